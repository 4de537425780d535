// Cloudflare's Go SDK as a witness: every situation of testing/clients/situations.txt, in that order.
package main

import (
	"context"

	"github.com/cloudflare/cloudflare-go/v7"
	"github.com/cloudflare/cloudflare-go/v7/option"
	"kflare.dev/testing/clients/stage"
)

var (
	ctx = context.Background()
	// Base URL and token come from CLOUDFLARE_BASE_URL and CLOUDFLARE_API_TOKEN, as the SDK's README says.
	client = cloudflare.NewClient()
)

func withToken(token string) *cloudflare.Client {
	return cloudflare.NewClient(option.WithAPIToken(token))
}

func main() {
	beginZones()
	beginRecords()
	refusals()
	endRecords()
	tunnels()
	endZones()
	stage.Situation("every answer fits the types of the client", func() { stage.Compare("go", differences) })
	stage.Close("go")
}
