module kflare.dev/testing/clients/go

go 1.24

require github.com/cloudflare/cloudflare-go/v7 v7.9.0

require kflare.dev/testing/clients/stage v0.0.0

require (
	github.com/tidwall/gjson v1.14.4 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
)

replace kflare.dev/testing/clients/stage => ../go-stage
