package main

import (
	"sort"
	"strings"

	"github.com/cloudflare/cloudflare-go/v7"
	"github.com/cloudflare/cloudflare-go/v7/accounts"
	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/zones"
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

func named(name string) zones.ZoneListParams { return zones.ZoneListParams{Name: cloudflare.F(name)} }

func newZone() zones.ZoneNewParams {
	return zones.ZoneNewParams{
		Account: cloudflare.F(zones.ZoneNewParamsAccount{ID: cloudflare.F(stage.Account)}),
		Name:    cloudflare.F(stage.Zone),
		Type:    cloudflare.F(zones.TypeFull),
	}
}

// createZone makes the zone, unless one of that name is there: that one belongs to somebody.
func createZone() {
	there := got(client.Zones.List(ctx, named(stage.Zone))).Result
	stage.Check(len(there) == 0, "%s exists already; name a domain that is not in Cloudflare", stage.Zone)
	answer := got(client.Zones.New(ctx, newZone()))
	made = answer.ID
	stage.Equal(answer.Name, stage.Zone)
	stage.Equal(answer.Account.ID, stage.Account)
	stage.Equal(answer.Type, zones.TypeFull)
	stage.Equal(answer.Paused, false)
	stage.Equal(len(answer.NameServers), 2)
	stage.Check(answer.Status == "initializing" || answer.Status == "pending", "%s", answer.Status)
	stage.Check(!answer.CreatedOn.IsZero(), "no created_on")
}

func zonesByPage() {
	pages, ids := 0, map[string]bool{}
	page := got(client.Zones.List(ctx, zones.ZoneListParams{PerPage: cloudflare.F(5.0)}))
	for page != nil && len(page.Result) > 0 {
		stage.Check(len(page.Result) <= 5, "%d zones on a page", len(page.Result))
		pages++
		for _, each := range page.Result {
			stage.Check(!ids[each.ID], "%s is on two pages", each.Name)
			ids[each.ID] = true
		}
		page = stage.Must(page.GetNextPage())
	}
	stage.Check(ids[zone()], "the zone is on no page")
	if stage.Control != "" {
		stage.Check(pages > 2 && len(ids) > 10, "%d zones on %d pages", len(ids), pages)
	}
}

func zonesByFilter() {
	ids := func(params zones.ZoneListParams) []string {
		found := []string{}
		for _, each := range got(client.Zones.List(ctx, params)).Result {
			found = append(found, each.ID)
		}
		return found
	}
	in := func(account string) zones.ZoneListParams {
		params := named("starts_with:" + strings.TrimSuffix(stage.Zone, "e"))
		params.Account = cloudflare.F(zones.ZoneListParamsAccount{ID: cloudflare.F(account)})
		return params
	}
	of := func(kinds ...zones.ZoneListParamsType) zones.ZoneListParams {
		params := named(stage.Zone)
		params.Type = cloudflare.F(kinds)
		return params
	}
	stage.Equal(ids(named(stage.Zone)), []string{zone()})
	stage.Equal(ids(in(stage.Account)), []string{zone()})
	stage.Equal(ids(in(strings.Repeat("f", 32))), []string{})
	active := named(stage.Zone)
	active.Status = cloudflare.F(zones.ZoneListParamsStatusActive)
	stage.Equal(ids(active), []string{})
	stage.Equal(ids(of(zones.ZoneListParamsTypeInternal, zones.ZoneListParamsTypeFull)), []string{zone()})
	stage.Equal(ids(of(zones.ZoneListParamsTypeInternal, zones.ZoneListParamsTypePartial)), []string{})
	down := got(client.Zones.List(ctx, zones.ZoneListParams{
		Order:     cloudflare.F(zones.ZoneListParamsOrderName),
		Direction: cloudflare.F(zones.ZoneListParamsDirectionDesc),
		PerPage:   cloudflare.F(50.0),
	})).Result
	stage.Check(sort.SliceIsSorted(down, func(a, b int) bool { return down[a].Name > down[b].Name }), "unsorted")
}

func beginZones() {
	stage.Situation("the token is active", func() {
		verdict := got(client.User.Tokens.Verify(ctx))
		stage.Equal(string(verdict.Status), "active")
		stage.Equal(len(verdict.ID), 32)
	})
	stage.Situation("an account-owned token is active", func() {
		if stage.OwnedToken == "" {
			stage.Skip("no such token is given")
		}
		owned := withToken(stage.OwnedToken)
		verdict := got(owned.Accounts.Tokens.Verify(ctx, accounts.TokenVerifyParams{AccountID: cloudflare.F(stage.Account)}))
		stage.Equal(string(verdict.Status), "active")
		_, err := owned.User.Tokens.Verify(ctx)
		refused(err, 401, 1000)
	})
	stage.Situation("the account is read and listed", func() {
		one := got(client.Accounts.Get(ctx, accounts.AccountGetParams{AccountID: cloudflare.F(stage.Account)}))
		stage.Equal(one.ID, stage.Account)
		found := false
		pager := client.Accounts.ListAutoPaging(ctx, accounts.AccountListParams{PerPage: cloudflare.F(5.0)})
		for pager.Next() {
			account := pager.Current()
			found = found || got(&account, nil).ID == stage.Account
		}
		stage.Check(pager.Err() == nil && found, "not listed: %v", pager.Err())
	})
	stage.Situation("a zone is created", createZone)
	stage.Situation("the same zone again is a duplicate", func() {
		zone()
		_, err := client.Zones.New(ctx, newZone())
		refused(err, 400, 1061)
	})
	stage.Situation("zones are listed page by page", zonesByPage)
	stage.Situation("zones are filtered", zonesByFilter)
	stage.Situation("the zone is read", func() {
		answer := got(client.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(zone())}))
		stage.Equal([]string{answer.ID, answer.Name, answer.Plan.Name}, []string{zone(), stage.Zone, "Free Website"})
	})
	stage.Situation("the zone is paused and resumed", func() {
		for _, paused := range []bool{true, false} {
			edit := zones.ZoneEditParams{ZoneID: cloudflare.F(zone()), Paused: cloudflare.F(paused)}
			stage.Equal(got(client.Zones.Edit(ctx, edit)).Paused, paused)
			stage.Equal(got(client.Zones.Get(ctx, zones.ZoneGetParams{ZoneID: cloudflare.F(zone())})).Paused, paused)
		}
	})
	stage.Situation("the usage of the zone is read", func() {
		usage := got(client.DNS.Usage.Zone.Get(ctx, dns.UsageZoneGetParams{ZoneID: cloudflare.F(zone())}))
		stage.Equal(int(usage.RecordUsage), 0)
		stage.Check(usage.RecordQuota > 0 || usage.JSON.RecordQuota.IsNull(), "a quota of %v", usage.RecordQuota)
	})
	stage.Situation("the subscription of the zone is read", func() {
		subscription := got(client.Zones.Subscriptions.Get(ctx, zones.SubscriptionGetParams{ZoneID: cloudflare.F(zone())}))
		stage.Equal(string(subscription.RatePlan.ID), "free")
	})
	stage.Situation("the hold of the zone is read", func() {
		hold := got(client.Zones.Holds.Get(ctx, zones.HoldGetParams{ZoneID: cloudflare.F(zone())}))
		stage.Equal(hold.Hold, false)
	})
}

func endZones() {
	stage.CleanUp("the zone is deleted", func() {
		id := zone()
		stage.Equal(got(client.Zones.Delete(ctx, zones.ZoneDeleteParams{ZoneID: cloudflare.F(id)})).ID, id)
		made = ""
		stage.Equal(len(got(client.Zones.List(ctx, named(stage.Zone))).Result), 0)
	})
}

// plan puts the zone on a plan.
func plan(name string) {
	stage.Command("a real plan costs money", "POST", "/zones/"+zone()+"/plan", map[string]string{"plan": name})
}
