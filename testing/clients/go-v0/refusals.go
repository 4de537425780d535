package main

import (
	"strings"
	"time"

	"github.com/cloudflare/cloudflare-go"
	"kflare.dev/testing/clients/stage"
)

// coded is what the client's error types have in common.
type coded interface {
	error
	ErrorCodes() []int
	ErrorMessages() []string
}

// refused ends the situation unless the client's error is of that type and has that code.
func refused[T coded](err error, code int) {
	refusal := stage.As[T](err)
	stage.Equal(refusal.ErrorCodes()[:1], []int{code})
	stage.Check(refusal.ErrorMessages()[0] != "", "no text")
}

func create(api *cloudflare.API, kind, name, content string, ttl int) error {
	_, err := api.CreateDNSRecord(ctx, within(), cloudflare.CreateDNSRecordParams{
		Type: kind, Name: stage.Full(name), Content: content, TTL: ttl,
	})
	return err
}

// fault makes the next reads of the zone go wrong.
func fault(name string, times int) {
	what := map[string]any{"method": "GET", "path": "/zones/" + zone(), "times": times}
	stage.Command("only the sandbox fails on command", "POST", "/faults/"+name, what)
}

func refusals() {
	impatient := withToken(client.APIToken, cloudflare.UsingRetryPolicy(0, 0, 0))
	stage.Situation("a malformed token is refused", func() {
		_, err := withToken("not a token").ListZonesContext(ctx)
		refused[*cloudflare.RequestError](err, 6003)
	})
	stage.Situation("an unknown token is refused", func() {
		stranger := withToken(strings.Repeat("x", 40))
		_, err := stranger.VerifyAPIToken(ctx)
		refused[*cloudflare.AuthorizationError](err, 1000)
		_, err = stranger.ZoneDetails(ctx, zone())
		refused[*cloudflare.AuthorizationError](err, 9109)
	})
	stage.Situation("a token without the permission is refused", func() {
		if stage.ReadToken == "" {
			stage.Skip("no such token is given")
		}
		reader := withToken(stage.ReadToken)
		stage.Equal(stage.Must(reader.ZoneDetails(ctx, zone())).Name, stage.Zone)
		refused[*cloudflare.AuthenticationError](create(reader, "A", "forbidden", "192.0.2.60", 1), 10000)
	})
	stage.Situation("a duplicate record is refused", func() {
		refused[*cloudflare.RequestError](create(client, "A", "proxied", "192.0.2.11", 1), 81058)
	})
	stage.Situation("a CNAME beside an address is refused", func() {
		refused[*cloudflare.RequestError](create(client, "CNAME", "proxied", "target.example.net", 1), 81053)
	})
	stage.Situation("invalid content is refused", func() {
		refused[*cloudflare.RequestError](create(client, "A", "invalid", "192.0.2", 1), 9005)
		refused[*cloudflare.RequestError](create(client, "A", "invalid", "192.0.2.70", 7), 9021)
	})
	stage.Situation("a record that is not there is not found", func() {
		_, err := client.GetDNSRecord(ctx, within(), strings.Repeat("0", 32))
		refused[*cloudflare.NotFoundError](err, 81044)
	})
	stage.Situation("a zone that is not there is refused", func() {
		_, err := client.ZoneDetails(ctx, strings.Repeat("0", 32))
		refused[*cloudflare.AuthenticationError](err, 9109)
	})
	stage.Situation("too many requests are an error of their own", func() {
		fault("429", 1)
		// The client has a RatelimitError, and gives this one instead.
		_, err := impatient.ZoneDetails(ctx, zone())
		stage.Check(err != nil && strings.Contains(err.Error(), "exceeded available rate limit retries"), "%v", err)
	})
	stage.Situation("too many requests wait for Retry-After", func() {
		fault("429", 2)
		began := time.Now()
		stage.Equal(stage.Must(client.ZoneDetails(ctx, zone())).ID, zone())
		waited := time.Since(began)
		stage.Check(waited >= 3*time.Second, "waited %s", waited)
		stage.Skip("this client asks again after delays of its own, whatever Retry-After says; it did")
	})
	stage.Situation("a server that fails for a moment is asked again", func() {
		for _, name := range []string{"500", "502", "503"} {
			fault(name, 1)
			stage.Equal(stage.Must(client.ZoneDetails(ctx, zone())).ID, zone())
		}
		fault("500", 1)
		_, err := impatient.ZoneDetails(ctx, zone())
		stage.Check(err != nil && strings.Contains(err.Error(), "HTTP 500"), "%v", err)
	})
}
