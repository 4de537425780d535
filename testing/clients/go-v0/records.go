package main

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"sort"
	"strings"

	"github.com/cloudflare/cloudflare-go"
	"kflare.dev/testing/clients/stage"
)

// ids has the id of each record of the shared list.
var ids []string

type list = cloudflare.ListDNSRecordsParams

func records() string { return "/zones/" + zone() + "/dns_records" }

// createWanted makes a record of the shared list; a setting that the client has no field for goes through its Raw.
func createWanted(record stage.Record) cloudflare.DNSRecord {
	body := map[string]any{"type": record.Type, "name": stage.Full(record.Name)}
	maps.Copy(body, record.Body)
	if settings, has := record.Body["settings"].(map[string]any); has && settings["ipv4_only"] != nil {
		return stage.Must(raw[cloudflare.DNSRecord](client, http.MethodPost, records(), body))
	}
	var params cloudflare.CreateDNSRecordParams
	err := json.Unmarshal(stage.Must(json.Marshal(body)), &params)
	stage.Check(err == nil, "%v", err)
	return stage.Must(client.CreateDNSRecord(ctx, within(), params))
}

// holds compares, but for the settings that the client has no field for.
func holds(got cloudflare.DNSRecord, expected map[string]any) {
	if settings, has := expected["settings"].(map[string]any); has && settings["flatten_cname"] == nil {
		delete(expected, "settings")
	}
	stage.Holds(got, expected)
}

// id is that of the record of that type and name.
func id(kind, name string) string {
	for index, record := range stage.Wanted {
		if record.Type == kind && record.Name == name && index < len(ids) {
			return ids[index]
		}
	}
	stage.Check(false, "no %s %s", kind, name)
	return ""
}

func all(params list) []cloudflare.DNSRecord {
	found, _, err := client.ListDNSRecords(ctx, within(), params)
	return stage.Must(found, err)
}

func idsOf(records []cloudflare.DNSRecord) []string {
	found := []string{}
	for _, record := range records {
		found = append(found, record.ID)
	}
	sort.Strings(found)
	return found
}

func names(params list) []string {
	found := []string{}
	for _, record := range all(params) {
		found = append(found, record.Type+" "+strings.TrimSuffix(strings.TrimSuffix(record.Name, stage.Zone), "."))
	}
	sort.Strings(found)
	return found
}

func createRecords() {
	kinds := map[string]bool{}
	for _, record := range stage.Wanted {
		answer := createWanted(record)
		holds(answer, record.Expected())
		ids = append(ids, answer.ID)
		kinds[record.Type] = true
	}
	stage.Equal(len(kinds), 21)
	stage.Equal(usage(), len(stage.Wanted))
}

func recordsByPage() {
	found := []cloudflare.DNSRecord{}
	info := cloudflare.ResultInfo{Page: 1, PerPage: 5}
	for {
		page, came, err := client.ListDNSRecords(ctx, within(), list{ResultInfo: info})
		stage.Must(page, err)
		stage.Equal(came.Total, len(ids))
		stage.Equal(came.TotalPages, int(math.Ceil(float64(len(ids))/5)))
		stage.Equal(came.Count, len(page))
		found = append(found, page...)
		if !came.HasMorePages() {
			break
		}
		info = came.Next()
	}
	sorted := append([]string{}, ids...)
	sort.Strings(sorted)
	stage.Equal(idsOf(found), sorted)
}

func recordsByFilter() {
	stage.Equal(names(list{Type: "MX"}), []string{"MX "})
	stage.Equal(names(list{Name: stage.Full("sub")}), []string{"DS sub", "NS sub"})
	stage.Equal(names(list{Name: stage.Full("sub"), Type: "DS"}), []string{"DS sub"})
	stage.Equal(names(list{Content: "192.0.2.10"}), []string{"A "})
	stage.Equal(names(list{Proxied: cloudflare.BoolPtr(true)}), []string{"A proxied"})
	stage.Equal(names(list{Comment: "No mail"}), []string{"TXT "})
	stage.Equal(names(list{Match: "any", Type: "PTR", Proxied: cloudflare.BoolPtr(true)}), []string{"A proxied", "PTR 10"})
	stage.Equal(names(list{Type: "MX", Content: "192.0.2.10"}), []string{})
}

func recordsInOrder() {
	down := all(list{Order: "name", Direction: cloudflare.ListDirectionDesc})
	stage.Check(sort.SliceIsSorted(down, func(a, b int) bool { return down[a].Name > down[b].Name }), "unsorted names")
	up := all(list{Order: "ttl", Direction: cloudflare.ListDirectionAsc})
	stage.Check(sort.SliceIsSorted(up, func(a, b int) bool { return up[a].TTL < up[b].TTL }), "unsorted TTLs")
}

func patch() {
	www := id("AAAA", "www")
	wanted := map[string]any{"id": www, "type": "AAAA", "content": "2001:db8::10", "ttl": 600, "comment": "Patched"}
	params := cloudflare.UpdateDNSRecordParams{ID: www, TTL: 600, Comment: cloudflare.StringPtr("Patched")}
	answer := stage.Must(client.UpdateDNSRecord(ctx, within(), params))
	stage.Holds(answer, wanted)
	stage.Check(!answer.ModifiedOn.Before(answer.CreatedOn), "modified before it was created")
	stage.Holds(stage.Must(client.GetDNSRecord(ctx, within(), www)), wanted)
}

func overwrite() {
	www := id("AAAA", "www")
	whole := map[string]any{"type": "AAAA", "name": stage.Full("www"), "content": "2001:db8::11", "ttl": 1}
	answer := stage.Must(raw[cloudflare.DNSRecord](client, http.MethodPut, records()+"/"+www, whole))
	stage.Holds(answer, map[string]any{"id": www, "content": "2001:db8::11", "ttl": 1})
	stage.Equal(answer.Comment, "")
}

// operations are a batch, and what comes of it.
type operations struct {
	Deletes []map[string]any `json:"deletes,omitempty"`
	Patches []map[string]any `json:"patches,omitempty"`
	Puts    []map[string]any `json:"puts,omitempty"`
	Posts   []map[string]any `json:"posts,omitempty"`
}

func run(batch operations) (operations, error) {
	return raw[operations](client, http.MethodPost, records()+"/batch", batch)
}

func post(kind, name, content string) map[string]any {
	return map[string]any{"type": kind, "name": stage.Full(name), "content": content, "ttl": 1}
}

func batch() {
	put := post("TXT", "@", `"v=spf1 ~all"`)
	put["id"] = id("TXT", "@")
	answer := stage.Must(run(operations{
		Deletes: []map[string]any{{"id": id("PTR", "10")}},
		Patches: []map[string]any{{"id": id("A", "@"), "ttl": 120}},
		Puts:    []map[string]any{put},
		Posts:   []map[string]any{post("A", "batch", "192.0.2.20"), post("PTR", "10", "again.example.net")},
	}))
	stage.Equal([]int{len(answer.Deletes), len(answer.Patches), len(answer.Puts), len(answer.Posts)}, []int{1, 1, 1, 2})
	stage.Holds(answer.Deletes[0], map[string]any{"id": id("PTR", "10")})
	stage.Holds(answer.Patches[0], map[string]any{"id": id("A", "@"), "ttl": 120, "content": "192.0.2.10"})
	stage.Holds(answer.Puts[0], map[string]any{"id": id("TXT", "@"), "content": `"v=spf1 ~all"`, "comment": nil})
	stage.Holds(answer.Posts[1], map[string]any{"content": "again.example.net"})
	stage.Equal(len(all(list{})), len(ids)+1)
}

func refusedBatch() {
	before := idsOf(all(list{}))
	_, err := run(operations{
		Deletes: []map[string]any{{"id": id("MX", "@")}},
		Posts:   []map[string]any{post("A", "fine", "192.0.2.30"), post("A", "wrong", "no address")},
	})
	refused[*cloudflare.RequestError](err, 9005)
	stage.Equal(idsOf(all(list{})), before)
}

func tags() {
	params := cloudflare.CreateDNSRecordParams{
		Type: "A", Name: stage.Full("tagged"), Content: "192.0.2.40", TTL: 1, Tags: []string{"team:dns", "witness"},
	}
	plan("free")
	_, err := client.CreateDNSRecord(ctx, within(), params)
	stage.As[*cloudflare.RequestError](err)
	plan("pro")
	record := stage.Must(client.CreateDNSRecord(ctx, within(), params))
	stage.Equal(record.Tags, params.Tags)
	stage.Equal(names(list{Tags: []string{"team:dns", "witness"}}), []string{"A tagged"})
	stage.Equal(names(list{Tags: []string{"team:dns", "team:web"}}), []string{})
	stage.Check(client.DeleteDNSRecord(ctx, within(), record.ID) == nil, "not deleted")
	plan("free")
}

func zoneFile() {
	text := stage.Must(client.ExportDNSRecords(ctx, within(), cloudflare.ExportDNSRecordsParams{}))
	line := stage.Zone + ".\t1\tIN\tMX\t10 mail.example.net.\n"
	stage.Check(strings.Contains(text, line), "no MX in the zone file:\n%s", text)
	before := len(all(list{}))
	file := "imported." + stage.Zone + ". 300 IN A 192.0.2.50\n"
	err := client.ImportDNSRecords(ctx, within(), cloudflare.ImportDNSRecordsParams{BINDContents: file})
	stage.Check(err == nil, "%v", err)
	stage.Equal(len(all(list{})), before+1)
	stage.Equal(names(list{Content: "192.0.2.50"}), []string{"A imported"})
}

func beginRecords() {
	stage.Situation("records of all types are created", createRecords)
	stage.Situation("records are read", func() {
		for index, record := range stage.Wanted {
			holds(stage.Must(client.GetDNSRecord(ctx, within(), ids[index])), record.Expected())
		}
	})
	stage.Situation("records are listed page by page", recordsByPage)
	stage.Situation("records are filtered", recordsByFilter)
	stage.Situation("records are sorted", recordsInOrder)
	stage.Situation("a record is patched", patch)
	stage.Situation("a record is overwritten", overwrite)
	stage.Situation("a batch deletes, patches, overwrites and creates", batch)
	stage.Situation("a refused batch changes nothing", refusedBatch)
	stage.Situation("tags are refused on a free zone and kept on a paid one", tags)
	stage.Situation("the zone file is exported and imported", zoneFile)
}

func endRecords() {
	stage.Situation("a batch deletes every record", func() {
		every := operations{}
		for _, record := range all(list{}) {
			every.Deletes = append(every.Deletes, map[string]any{"id": record.ID})
		}
		stage.Check(len(every.Deletes) > len(ids), "%d records", len(every.Deletes))
		stage.Equal(len(stage.Must(run(every)).Deletes), len(every.Deletes))
		stage.Equal(len(all(list{})), 0)
	})
}
