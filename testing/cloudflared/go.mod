module kflare.dev/testing/cloudflared

go 1.26
