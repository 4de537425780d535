module kflare.dev/testing/clients/stage

go 1.24
