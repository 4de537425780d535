package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/cloudflare/cloudflare-go/v7"
	"github.com/cloudflare/cloudflare-go/v7/shared"
	"github.com/cloudflare/cloudflare-go/v7/zero_trust"
	"kflare.dev/testing/clients/stage"
)

var (
	tunnelsAPI = client.ZeroTrust.Tunnels.Cloudflared
	owner      = cloudflare.F(stage.Account)
	// prefix is that of all tunnels of this run, and of none of anybody else.
	prefix = stage.Zone + " "
	// tunnelsMade are those that this run made and that still stand. Nothing is done to any other.
	tunnelsMade []string
)

func tunnel() string {
	if len(tunnelsMade) == 0 {
		stage.Skip("there is no tunnel")
	}
	return tunnelsMade[0]
}

func createTunnel(name string) *shared.CloudflareTunnel {
	answer := got(tunnelsAPI.New(ctx, zero_trust.TunnelCloudflaredNewParams{
		AccountID: owner,
		Name:      cloudflare.F(prefix + name),
		ConfigSrc: cloudflare.F(zero_trust.TunnelCloudflaredNewParamsConfigSrcCloudflare),
	}))
	tunnelsMade = append(tunnelsMade, answer.ID)
	return answer
}

func readTunnel(id string) *shared.CloudflareTunnel {
	return got(tunnelsAPI.Get(ctx, id, zero_trust.TunnelCloudflaredGetParams{AccountID: owner}))
}

// ourTunnels asks for the tunnels of this run that stand, and for what else is set.
func ourTunnels(set func(*zero_trust.TunnelCloudflaredListParams)) zero_trust.TunnelCloudflaredListParams {
	params := zero_trust.TunnelCloudflaredListParams{
		AccountID: owner, IncludePrefix: cloudflare.F(prefix), IsDeleted: cloudflare.F(false),
	}
	if set != nil {
		set(&params)
	}
	return params
}

func tunnelIDs(set func(*zero_trust.TunnelCloudflaredListParams)) []string {
	found := []string{}
	for _, each := range got(tunnelsAPI.List(ctx, ourTunnels(set))).Result {
		found = append(found, each.ID)
	}
	return found
}

func tunnelsByPage() {
	tunnel()
	createTunnel("second")
	createTunnel("third")
	pages, found := 0, map[string]bool{}
	two := func(params *zero_trust.TunnelCloudflaredListParams) { params.PerPage = cloudflare.F(2.0) }
	page := got(tunnelsAPI.List(ctx, ourTunnels(two)))
	for page != nil && len(page.Result) > 0 {
		pages++
		for _, each := range page.Result {
			found[each.ID] = true
		}
		page = stage.Must(page.GetNextPage())
	}
	stage.Equal([]int{pages, len(found)}, []int{2, 3})
}

func tunnelsByFilter() {
	type params = zero_trust.TunnelCloudflaredListParams
	first := []string{tunnel()}
	stage.Equal(tunnelIDs(func(p *params) { p.Name = cloudflare.F(prefix + "first") }), first)
	stage.Equal(tunnelIDs(func(p *params) {
		p.UUID = cloudflare.F(tunnel())
		p.Status = cloudflare.F(zero_trust.TunnelCloudflaredListParamsStatusInactive)
	}), first)
	stage.Equal(tunnelIDs(func(p *params) {
		p.Status = cloudflare.F(zero_trust.TunnelCloudflaredListParamsStatusHealthy)
	}), []string{})
	stage.Equal(len(tunnelIDs(func(p *params) { p.ExcludePrefix = cloudflare.F(prefix + "f") })), 2)
	stage.Equal(tunnelIDs(func(p *params) {
		p.UUID = cloudflare.F(tunnel())
		p.IsDeleted = cloudflare.F(true)
	}), []string{})
}

func editTunnel(edit zero_trust.TunnelCloudflaredEditParams) (*shared.CloudflareTunnel, error) {
	edit.AccountID = owner
	return tunnelsAPI.Edit(ctx, tunnel(), edit)
}

func tunnelSecret() {
	read := func() string {
		return *stage.Must(tunnelsAPI.Token.Get(ctx, tunnel(), zero_trust.TunnelCloudflaredTokenGetParams{AccountID: owner}))
	}
	parts := func(token string) map[string]string {
		var parts map[string]string
		stage.Check(json.Unmarshal(stage.Must(base64.StdEncoding.DecodeString(token)), &parts) == nil, "no JSON")
		return parts
	}
	first := read()
	stage.Equal([]string{parts(first)["a"], parts(first)["t"]}, []string{stage.Account, tunnel()})
	stage.Equal(read(), first)
	secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	got(editTunnel(zero_trust.TunnelCloudflaredEditParams{TunnelSecret: cloudflare.F(secret)}))
	stage.Equal(parts(read())["s"], secret)
	short := base64.StdEncoding.EncodeToString(make([]byte, 31))
	_, err := editTunnel(zero_trust.TunnelCloudflaredEditParams{TunnelSecret: cloudflare.F(short)})
	refused(err, 400, 1003)
}

func configure(
	rules ...zero_trust.TunnelCloudflaredConfigurationUpdateParamsConfigIngress,
) (*zero_trust.TunnelCloudflaredConfigurationUpdateResponse, error) {
	return tunnelsAPI.Configurations.Update(ctx, tunnel(), zero_trust.TunnelCloudflaredConfigurationUpdateParams{
		AccountID: owner,
		Config:    cloudflare.F(zero_trust.TunnelCloudflaredConfigurationUpdateParamsConfig{Ingress: cloudflare.F(rules)}),
	})
}

func tunnelConfigured() {
	type rule = zero_trust.TunnelCloudflaredConfigurationUpdateParamsConfigIngress
	type request = zero_trust.TunnelCloudflaredConfigurationUpdateParamsConfigIngressOriginRequest
	query := zero_trust.TunnelCloudflaredConfigurationGetParams{AccountID: owner}
	_, err := tunnelsAPI.Configurations.Get(ctx, tunnel(), query)
	refused(err, 404, 1055)
	first := rule{
		Hostname:      cloudflare.F("www." + stage.Zone),
		Path:          cloudflare.F("/app"),
		Service:       cloudflare.F("http://web:80"),
		OriginRequest: cloudflare.F(request{NoTLSVerify: cloudflare.F(true), ConnectTimeout: cloudflare.F(int64(5))}),
	}
	last := rule{Hostname: cloudflare.F(""), Service: cloudflare.F("http_status:404")}
	for _, version := range []int64{1, 2} {
		answer := got(configure(first, last))
		stage.Equal(answer.Version, version)
		stage.Equal(string(answer.Source), "cloudflare")
		read := got(tunnelsAPI.Configurations.Get(ctx, tunnel(), query))
		stage.Equal(read.Version, version)
		stage.Equal(len(read.Config.Ingress), 2)
		stage.Equal(read.Config.Ingress[0].Hostname, "www."+stage.Zone)
		stage.Equal(read.Config.Ingress[0].OriginRequest.NoTLSVerify, true)
		stage.Equal(read.Config.Ingress[1].Service, "http_status:404")
	}
	_, err = configure(first)
	refused(err, 400, 1056)
}

func tunnelConnected() {
	path := "/tunnels/" + tunnel() + "/connectors"
	stage.Command("only the sandbox plays a connector", "POST", path, map[string]any{})
	stage.Equal(string(readTunnel(tunnel()).Status), "healthy")
	query := zero_trust.TunnelCloudflaredConnectionGetParams{AccountID: owner}
	clients := got(tunnelsAPI.Connections.Get(ctx, tunnel(), query)).Result
	stage.Equal([]int{len(clients), len(clients[0].Conns)}, []int{1, 4})
	connector := got(tunnelsAPI.Connectors.Get(ctx, tunnel(), clients[0].ID, zero_trust.TunnelCloudflaredConnectorGetParams{AccountID: owner}))
	stage.Equal(connector.ID, clients[0].ID)
	_, err := tunnelsAPI.Delete(ctx, tunnel(), zero_trust.TunnelCloudflaredDeleteParams{AccountID: owner})
	refused(err, 400, 1022)
	clean := zero_trust.TunnelCloudflaredConnectionDeleteParams{AccountID: owner}
	stage.Must(tunnelsAPI.Connections.Delete(ctx, tunnel(), clean))
	stage.Equal(string(readTunnel(tunnel()).Status), "down")
}

func tunnelsDeleted() {
	tunnel()
	for len(tunnelsMade) > 0 {
		id := tunnel()
		answer := got(tunnelsAPI.Delete(ctx, id, zero_trust.TunnelCloudflaredDeleteParams{AccountID: owner}))
		tunnelsMade = tunnelsMade[1:]
		stage.Check(!answer.DeletedAt.IsZero(), "no time")
		stage.Check(!readTunnel(id).DeletedAt.IsZero(), "it cannot be read as deleted")
	}
	stage.Equal(tunnelIDs(nil), []string{})
}

func tunnels() {
	stage.Situation("a tunnel is created", func() {
		stage.Equal(tunnelIDs(nil), []string{})
		answer := createTunnel("first")
		stage.Equal([]string{string(answer.Status), answer.AccountTag}, []string{"inactive", stage.Account})
		stage.Equal(string(answer.ConfigSrc), "cloudflare")
	})
	stage.Situation("the same tunnel again is a duplicate", func() {
		tunnel()
		_, err := tunnelsAPI.New(ctx, zero_trust.TunnelCloudflaredNewParams{AccountID: owner, Name: cloudflare.F(prefix + "first")})
		refused(err, 409, 1013)
	})
	stage.Situation("tunnels are listed page by page", tunnelsByPage)
	stage.Situation("tunnels are filtered", tunnelsByFilter)
	stage.Situation("the tunnel is read and renamed", func() {
		stage.Equal(readTunnel(tunnel()).Name, prefix+"first")
		renamed := got(editTunnel(zero_trust.TunnelCloudflaredEditParams{Name: cloudflare.F(prefix + "renamed")}))
		stage.Equal(renamed.Name, prefix+"renamed")
	})
	stage.Situation("the token of the tunnel changes with its secret", tunnelSecret)
	stage.Situation("the tunnel is configured", tunnelConfigured)
	stage.Situation("a tunnel that is not there is not found", func() {
		unknown := "00000000-0000-4000-8000-000000000000"
		_, err := tunnelsAPI.Get(ctx, unknown, zero_trust.TunnelCloudflaredGetParams{AccountID: owner})
		refused(err, 404, 1002)
	})
	stage.Situation("a connected tunnel cannot be deleted", tunnelConnected)
	stage.CleanUp("the tunnels are deleted", tunnelsDeleted)
}
