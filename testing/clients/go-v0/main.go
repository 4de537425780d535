// The long-lived predecessor of Cloudflare's Go SDK as a witness: every situation of testing/clients/situations.txt,
// in that order. Calls that it has no method for go through its Raw.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"github.com/cloudflare/cloudflare-go"
	"kflare.dev/testing/clients/stage"
)

var (
	ctx    = context.Background()
	client = withToken(os.Getenv("CLOUDFLARE_API_TOKEN"))
)

// withToken makes a client; the base URL is the option of its documentation, and comes from CLOUDFLARE_BASE_URL.
func withToken(token string, more ...cloudflare.Option) *cloudflare.API {
	options := []cloudflare.Option{
		cloudflare.BaseURL(os.Getenv("CLOUDFLARE_BASE_URL")),
		cloudflare.HTTPClient(&http.Client{Transport: watch{}}),
	}
	if stage.Control != "" {
		// Its own four calls a second are for a real account, as are its delays.
		options = append(options, cloudflare.UsingRateLimit(100), cloudflare.UsingRetryPolicy(3, 1, 2))
	} else {
		// It does not read Retry-After; zone files may be sent and fetched three times a minute.
		options = append(options, cloudflare.UsingRetryPolicy(3, 20, 60))
	}
	return stage.Must(cloudflare.NewWithAPIToken(token, append(options, more...)...))
}

// raw calls what the client has no method for, and gives `result`.
func raw[T any](api *cloudflare.API, method, path string, body any) (T, error) {
	var result T
	answer, err := api.Raw(ctx, method, path, body, nil)
	if err == nil {
		err = json.Unmarshal(answer.Result, &result)
	}
	return result, err
}

func main() {
	beginZones()
	beginRecords()
	refusals()
	endRecords()
	tunnels()
	endZones()
	stage.Situation("every answer fits the types of the client", func() { stage.Compare("go-v0", differences) })
	stage.Close("go-v0")
}
