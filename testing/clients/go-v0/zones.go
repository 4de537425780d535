package main

import (
	"net/http"
	"sort"
	"strings"

	"github.com/cloudflare/cloudflare-go"
	"kflare.dev/testing/clients/stage"
)

// made is the zone that this run made. Nothing is done to any other.
var made string

func zone() string {
	if made == "" {
		stage.Skip("there is no zone")
	}
	return made
}

func within() *cloudflare.ResourceContainer { return cloudflare.ZoneIdentifier(zone()) }

func zones(name, account, status string) []string {
	found := []string{}
	options := cloudflare.WithZoneFilters(name, account, status)
	for _, each := range stage.Must(client.ListZonesContext(ctx, options)).Result {
		found = append(found, each.ID)
	}
	return found
}

func newZone() (cloudflare.Zone, error) {
	return client.CreateZone(ctx, stage.Zone, false, cloudflare.Account{ID: stage.Account}, "full")
}

// createZone makes the zone, unless one of that name is there: that one belongs to somebody.
func createZone() {
	there := zones(stage.Zone, "", "")
	stage.Check(len(there) == 0, "%s exists already; name a domain that is not in Cloudflare", stage.Zone)
	answer := stage.Must(newZone())
	made = answer.ID
	stage.Equal([]string{answer.Name, answer.Account.ID, answer.Type}, []string{stage.Zone, stage.Account, "full"})
	stage.Equal(answer.Paused, false)
	stage.Equal(len(answer.NameServers), 2)
	stage.Check(answer.Status == "initializing" || answer.Status == "pending", "%s", answer.Status)
	stage.Check(!answer.CreatedOn.IsZero(), "no created_on")
}

// zonesByPage lists all: the client asks for pages of fifty, at once, and checks that they add up.
func zonesByPage() {
	answer := stage.Must(client.ListZonesContext(ctx))
	seen := map[string]bool{}
	for _, each := range answer.Result {
		stage.Check(!seen[each.ID], "%s is on two pages", each.Name)
		seen[each.ID] = true
	}
	stage.Check(seen[zone()], "the zone is on no page")
	stage.Equal(len(seen), answer.Total)
	if stage.Control != "" {
		stage.Check(answer.TotalPages > 1, "%d pages", answer.TotalPages)
	}
}

func zonesByFilter() {
	stage.Equal(zones(stage.Zone, "", ""), []string{zone()})
	stage.Equal(zones("starts_with:"+strings.TrimSuffix(stage.Zone, "e"), stage.Account, ""), []string{zone()})
	stage.Equal(zones(stage.Zone, strings.Repeat("f", 32), ""), []string{})
	stage.Equal(zones(stage.Zone, "", "active"), []string{})
	type named struct{ ID, Name string }
	both := "/zones?type=internal&type=full&name=" + stage.Zone
	stage.Equal(stage.Must(raw[[]named](client, http.MethodGet, both, nil)), []named{{zone(), stage.Zone}})
	neither := "/zones?type=internal&type=partial&name=" + stage.Zone
	stage.Equal(stage.Must(raw[[]named](client, http.MethodGet, neither, nil)), []named{})
	down := stage.Must(raw[[]named](client, http.MethodGet, "/zones?order=name&direction=desc&per_page=50", nil))
	stage.Check(sort.SliceIsSorted(down, func(a, b int) bool { return down[a].Name > down[b].Name }), "unsorted")
}

func beginZones() {
	stage.Situation("the token is active", func() {
		verdict := stage.Must(client.VerifyAPIToken(ctx))
		stage.Equal(verdict.Status, "active")
		stage.Equal(len(verdict.ID), 32)
	})
	stage.Situation("an account-owned token is active", func() {
		if stage.OwnedToken == "" {
			stage.Skip("no such token is given")
		}
		owned := withToken(stage.OwnedToken)
		path := "/accounts/" + stage.Account + "/tokens/verify"
		verdict := stage.Must(raw[map[string]string](owned, http.MethodGet, path, nil))
		stage.Equal(verdict["status"], "active")
		_, err := owned.VerifyAPIToken(ctx)
		refused[*cloudflare.AuthorizationError](err, 1000)
	})
	stage.Situation("the account is read and listed", func() {
		one, _, err := client.Account(ctx, stage.Account)
		stage.Must(one, err)
		stage.Equal(one.ID, stage.Account)
		params := cloudflare.AccountsListParams{PaginationOptions: cloudflare.PaginationOptions{Page: 1, PerPage: 50}}
		list, info, err := client.Accounts(ctx, params)
		stage.Must(list, err)
		found := false
		for _, each := range list {
			found = found || each.ID == stage.Account
		}
		stage.Check(found && info.Total >= len(list), "%d accounts of %d", len(list), info.Total)
	})
	stage.Situation("a zone is created", createZone)
	stage.Situation("the same zone again is a duplicate", func() {
		zone()
		_, err := newZone()
		refused[*cloudflare.RequestError](err, 1061)
	})
	stage.Situation("zones are listed page by page", zonesByPage)
	stage.Situation("zones are filtered", zonesByFilter)
	stage.Situation("the zone is read", func() {
		answer := stage.Must(client.ZoneDetails(ctx, zone()))
		stage.Equal([]string{answer.ID, answer.Name, answer.Plan.Name}, []string{zone(), stage.Zone, "Free Website"})
		stage.Equal(stage.Must(client.ZoneIDByName(stage.Zone)), zone())
	})
	stage.Situation("the zone is paused and resumed", func() {
		for _, paused := range []bool{true, false} {
			stage.Equal(stage.Must(client.ZoneSetPaused(ctx, zone(), paused)).Paused, paused)
			stage.Equal(stage.Must(client.ZoneDetails(ctx, zone())).Paused, paused)
		}
	})
	stage.Situation("the usage of the zone is read", func() { stage.Equal(usage(), 0) })
	stage.Situation("the subscription of the zone is read", func() {
		type subscription struct {
			RatePlan struct{ ID string } `json:"rate_plan"`
		}
		answer := stage.Must(raw[subscription](client, http.MethodGet, "/zones/"+zone()+"/subscription", nil))
		stage.Equal(answer.RatePlan.ID, "free")
	})
	stage.Situation("the hold of the zone is read", func() {
		stage.Equal(*stage.Must(client.GetZoneHold(ctx, within(), cloudflare.GetZoneHoldParams{})).Hold, false)
	})
}

func endZones() {
	stage.CleanUp("the zone is deleted", func() {
		id := zone()
		stage.Equal(stage.Must(client.DeleteZone(ctx, id)).ID, id)
		made = ""
		stage.Equal(zones(stage.Zone, "", ""), []string{})
	})
}

// usage says how many records the zone has.
func usage() int {
	path := "/zones/" + zone() + "/dns_records/usage"
	return *stage.Must(raw[map[string]*int](client, http.MethodGet, path, nil))["record_usage"]
}

// plan puts the zone on a plan.
func plan(name string) {
	stage.Command("a real plan costs money", "POST", "/zones/"+zone()+"/plan", map[string]string{"plan": name})
}
