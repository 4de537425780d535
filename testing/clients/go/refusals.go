package main

import (
	"strings"
	"time"

	"github.com/cloudflare/cloudflare-go/v7"
	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"
	"github.com/cloudflare/cloudflare-go/v7/zones"
	"kflare.dev/testing/clients/stage"
)

// refused ends the situation unless the SDK's own error has that status and code.
func refused(err error, status int, code int64) *cloudflare.Error {
	refusal := stage.As[*cloudflare.Error](err)
	got(refusal, nil)
	stage.Check(len(refusal.Errors) > 0, "no errors: %v", refusal)
	stage.Equal([]int64{int64(refusal.StatusCode), refusal.Errors[0].Code}, []int64{int64(status), code})
	stage.Check(refusal.Errors[0].Message != "", "no text")
	return refusal
}

func address(name, content string) dns.RecordNewParams {
	return dns.RecordNewParams{ZoneID: cloudflare.F(zone()), Body: aRecord(name, content)}
}

// fault makes the next read of the zone go wrong.
func fault(name string) {
	what := map[string]any{"method": "GET", "path": "/zones/" + zone()}
	stage.Command("only the sandbox fails on command", "POST", "/faults/"+name, what)
}

func readZone(options ...option.RequestOption) (*zones.Zone, error) {
	return client.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(zone())}, options...)
}

func refusals() {
	stage.Situation("a malformed token is refused", func() {
		_, err := withToken("not a token").Zones.List(ctx, zones.ZoneListParams{})
		refused(err, 400, 6003)
	})
	stage.Situation("an unknown token is refused", func() {
		stranger := withToken(strings.Repeat("x", 40))
		_, err := stranger.User.Tokens.Verify(ctx)
		refused(err, 401, 1000)
		_, err = stranger.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(zone())})
		refused(err, 401, 9109)
	})
	stage.Situation("a token without the permission is refused", func() {
		if stage.ReadToken == "" {
			stage.Skip("no such token is given")
		}
		reader := withToken(stage.ReadToken)
		stage.Equal(got(reader.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(zone())})).Name, stage.Zone)
		_, err := reader.DNS.Records.New(ctx, address("forbidden", "192.0.2.60"))
		refused(err, 403, 10000)
	})
	stage.Situation("a duplicate record is refused", func() {
		_, err := client.DNS.Records.New(ctx, address("proxied", "192.0.2.11"))
		refused(err, 400, 81058)
	})
	stage.Situation("a CNAME beside an address is refused", func() {
		_, err := client.DNS.Records.New(ctx, dns.RecordNewParams{
			ZoneID: cloudflare.F(zone()),
			Body: dns.CNAMERecordParam{
				Type:    cloudflare.F(dns.CNAMERecordTypeCNAME),
				Name:    cloudflare.F(stage.Full("proxied")),
				Content: cloudflare.F("target.example.net"),
				TTL:     cloudflare.F(dns.TTL1),
			},
		})
		refused(err, 400, 81053)
	})
	stage.Situation("invalid content is refused", func() {
		_, err := client.DNS.Records.New(ctx, address("invalid", "192.0.2"))
		refused(err, 400, 9005)
		body := aRecord("invalid", "192.0.2.70")
		body.TTL = cloudflare.F(dns.TTL(7))
		_, err = client.DNS.Records.New(ctx, dns.RecordNewParams{ZoneID: cloudflare.F(zone()), Body: body})
		refused(err, 400, 9021)
	})
	stage.Situation("a record that is not there is not found", func() {
		_, err := client.DNS.Records.Get(ctx, strings.Repeat("0", 32), dns.RecordGetParams{ZoneID: cloudflare.F(zone())})
		refused(err, 404, 81044)
	})
	stage.Situation("a zone that is not there is refused", func() {
		_, err := client.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(strings.Repeat("0", 32))})
		refused(err, 403, 9109)
	})
	stage.Situation("too many requests are an error of their own", func() {
		fault("429")
		_, err := readZone(option.WithMaxRetries(0))
		stage.Equal(refused(err, 429, 10429).Response.Header.Get("Retry-After"), "5")
	})
	stage.Situation("too many requests wait for Retry-After", func() {
		fault("429")
		began := time.Now()
		stage.Equal(got(readZone()).ID, zone())
		waited := time.Since(began)
		stage.Check(waited >= 4900*time.Millisecond && waited < 15*time.Second, "waited %s", waited)
	})
	stage.Situation("a server that fails for a moment is asked again", func() {
		for _, name := range []string{"500", "502", "503"} {
			fault(name)
			stage.Equal(got(readZone()).ID, zone())
		}
		fault("500")
		_, err := readZone(option.WithMaxRetries(0))
		stage.Equal(stage.As[*cloudflare.Error](err).StatusCode, 500)
	})
}
