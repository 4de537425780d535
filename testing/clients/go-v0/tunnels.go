package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/cloudflare/cloudflare-go"
	"kflare.dev/testing/clients/stage"
)

var (
	account = cloudflare.AccountIdentifier(stage.Account)
	// prefix is that of all tunnels of this run, and of none of anybody else.
	prefix = stage.Zone + " "
	secret = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	// tunnelsMade are those that this run made and that still stand. Nothing is done to any other.
	tunnelsMade []string
)

func tunnel() string {
	if len(tunnelsMade) == 0 {
		stage.Skip("there is no tunnel")
	}
	return tunnelsMade[0]
}

func createTunnel(name string) cloudflare.Tunnel {
	answer := stage.Must(client.CreateTunnel(ctx, account, cloudflare.TunnelCreateParams{
		Name: prefix + name, Secret: secret, ConfigSrc: "cloudflare",
	}))
	tunnelsMade = append(tunnelsMade, answer.ID)
	return answer
}

// tunnelIDs are those of the tunnels of this run that stand, and that the other parameters let through.
func tunnelIDs(params cloudflare.TunnelListParams) []string {
	params.IncludePrefix = prefix
	if params.IsDeleted == nil {
		params.IsDeleted = cloudflare.BoolPtr(false)
	}
	list, _, err := client.ListTunnels(ctx, account, params)
	stage.Must(list, err)
	found := []string{}
	for _, each := range list {
		found = append(found, each.ID)
	}
	return found
}

// tunnelsByPage asks for each page by itself: the client goes through all of them only when it may choose their size.
func tunnelsByPage() {
	tunnel()
	createTunnel("second")
	createTunnel("third")
	found := []string{}
	for page, count := range []int{2, 1, 0} {
		info := cloudflare.ResultInfo{Page: page + 1, PerPage: 2}
		ids := tunnelIDs(cloudflare.TunnelListParams{ResultInfo: info})
		stage.Equal(len(ids), count)
		found = append(found, ids...)
	}
	stage.Equal(found, tunnelIDs(cloudflare.TunnelListParams{}))
}

func tunnelsByFilter() {
	first := []string{tunnel()}
	stage.Equal(tunnelIDs(cloudflare.TunnelListParams{Name: prefix + "first"}), first)
	stage.Equal(tunnelIDs(cloudflare.TunnelListParams{UUID: tunnel()}), first)
	stage.Equal(len(tunnelIDs(cloudflare.TunnelListParams{ExcludePrefix: prefix + "f"})), 2)
	deleted := cloudflare.TunnelListParams{UUID: tunnel(), IsDeleted: cloudflare.BoolPtr(true)}
	stage.Equal(tunnelIDs(deleted), []string{})
}

// editTunnel goes through Raw: the client's own UpdateTunnel does not say which tunnel it means.
func editTunnel(edit cloudflare.TunnelUpdateParams) (cloudflare.Tunnel, error) {
	path := "/accounts/" + stage.Account + "/cfd_tunnel/" + tunnel()
	return raw[cloudflare.Tunnel](client, http.MethodPatch, path, edit)
}

func tunnelToken() {
	read := func() map[string]string {
		var parts map[string]string
		token := stage.Must(client.GetTunnelToken(ctx, account, tunnel()))
		stage.Check(json.Unmarshal(stage.Must(base64.StdEncoding.DecodeString(token)), &parts) == nil, "no JSON")
		return parts
	}
	stage.Equal(read(), map[string]string{"a": stage.Account, "t": tunnel(), "s": secret})
	other := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{8}, 32))
	stage.Must(editTunnel(cloudflare.TunnelUpdateParams{Secret: other}))
	stage.Equal(read()["s"], other)
	short := base64.StdEncoding.EncodeToString(make([]byte, 31))
	_, err := editTunnel(cloudflare.TunnelUpdateParams{Secret: short})
	refused[*cloudflare.RequestError](err, 1003)
}

func configure(rules ...cloudflare.UnvalidatedIngressRule) (cloudflare.TunnelConfigurationResult, error) {
	config := cloudflare.TunnelConfiguration{Ingress: rules}
	return client.UpdateTunnelConfiguration(ctx, account, cloudflare.TunnelConfigurationParams{TunnelID: tunnel(), Config: config})
}

func tunnelConfigured() {
	_, err := client.GetTunnelConfiguration(ctx, account, tunnel())
	refused[*cloudflare.NotFoundError](err, 1055)
	first := cloudflare.UnvalidatedIngressRule{
		Hostname:      "www." + stage.Zone,
		Path:          "/app",
		Service:       "http://web:80",
		OriginRequest: &cloudflare.OriginRequestConfig{NoTLSVerify: cloudflare.BoolPtr(true)},
	}
	last := cloudflare.UnvalidatedIngressRule{Service: "http_status:404"}
	for _, version := range []int{1, 2} {
		answer := stage.Must(configure(first, last))
		stage.Equal(answer.Version, version)
		read := stage.Must(client.GetTunnelConfiguration(ctx, account, tunnel()))
		stage.Equal(read, answer)
		stage.Equal(read.Config.Ingress, []cloudflare.UnvalidatedIngressRule{first, last})
	}
	_, err = configure(first)
	refused[*cloudflare.RequestError](err, 1056)
}

func tunnelConnected() {
	path := "/tunnels/" + tunnel() + "/connectors"
	stage.Command("only the sandbox plays a connector", "POST", path, map[string]any{})
	stage.Equal(stage.Must(client.GetTunnel(ctx, account, tunnel())).Status, "healthy")
	clients := stage.Must(client.ListTunnelConnections(ctx, account, tunnel()))
	stage.Equal([]int{len(clients), len(clients[0].Connections)}, []int{1, 4})
	stage.Equal(clients[0].Connections[0].ClientID, clients[0].ID)
	refused[*cloudflare.RequestError](client.DeleteTunnel(ctx, account, tunnel()), 1022)
	err := client.CleanupTunnelConnections(ctx, account, tunnel())
	stage.Check(err == nil, "%v", err)
	stage.Equal(stage.Must(client.GetTunnel(ctx, account, tunnel())).Status, "down")
}

func tunnelsDeleted() {
	tunnel()
	for len(tunnelsMade) > 0 {
		id := tunnel()
		err := client.DeleteTunnel(ctx, account, id)
		stage.Check(err == nil, "%v", err)
		tunnelsMade = tunnelsMade[1:]
		stage.Check(stage.Must(client.GetTunnel(ctx, account, id)).DeletedAt != nil, "it cannot be read as deleted")
	}
	stage.Equal(tunnelIDs(cloudflare.TunnelListParams{}), []string{})
}

func tunnels() {
	stage.Situation("a tunnel is created", func() {
		stage.Equal(tunnelIDs(cloudflare.TunnelListParams{}), []string{})
		answer := createTunnel("first")
		stage.Equal([]string{answer.Name, answer.Status}, []string{prefix + "first", "inactive"})
		stage.Equal(answer.RemoteConfig, true)
	})
	stage.Situation("the same tunnel again is a duplicate", func() {
		tunnel()
		_, err := client.CreateTunnel(ctx, account, cloudflare.TunnelCreateParams{Name: prefix + "first", Secret: secret})
		refused[*cloudflare.RequestError](err, 1013)
	})
	stage.Situation("tunnels are listed page by page", tunnelsByPage)
	stage.Situation("tunnels are filtered", tunnelsByFilter)
	stage.Situation("the tunnel is read and renamed", func() {
		stage.Equal(stage.Must(client.GetTunnel(ctx, account, tunnel())).Name, prefix+"first")
		stage.Equal(stage.Must(editTunnel(cloudflare.TunnelUpdateParams{Name: prefix + "renamed"})).Name, prefix+"renamed")
	})
	stage.Situation("the token of the tunnel changes with its secret", tunnelToken)
	stage.Situation("the tunnel is configured", tunnelConfigured)
	stage.Situation("a tunnel that is not there is not found", func() {
		_, err := client.GetTunnel(ctx, account, "00000000-0000-4000-8000-000000000000")
		refused[*cloudflare.NotFoundError](err, 1002)
	})
	stage.Situation("a connected tunnel cannot be deleted", tunnelConnected)
	stage.CleanUp("the tunnels are deleted", tunnelsDeleted)
}
