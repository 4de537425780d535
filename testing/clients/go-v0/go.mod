module kflare.dev/testing/clients/go-v0

go 1.24

require github.com/cloudflare/cloudflare-go v0.117.0

require kflare.dev/testing/clients/stage v0.0.0

require (
	github.com/goccy/go-json v0.10.5 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	golang.org/x/net v0.34.0 // indirect
	golang.org/x/text v0.21.0 // indirect
	golang.org/x/time v0.9.0 // indirect
)

replace kflare.dev/testing/clients/stage => ../go-stage
