package main

import (
	"math"
	"sort"
	"strings"

	"github.com/cloudflare/cloudflare-go/v7"
	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/shared"
	"kflare.dev/testing/clients/stage"
)

// ids has the id of each record of the shared list.
var ids []string

// body is the record as the SDK's sum of all types.
func body(record stage.Record) dns.RecordNewParamsBody {
	body := dns.RecordNewParamsBody{
		Type: cloudflare.F(dns.RecordNewParamsBodyType(record.Type)),
		Name: cloudflare.F(stage.Full(record.Name)),
	}
	for field, value := range record.Body {
		switch field {
		case "content":
			body.Content = cloudflare.F(value.(string))
		case "data":
			body.Data = cloudflare.F(value)
		case "ttl":
			body.TTL = cloudflare.F(dns.TTL(value.(float64)))
		case "priority":
			body.Priority = cloudflare.F(value.(float64))
		case "proxied":
			body.Proxied = cloudflare.F(value.(bool))
		case "comment":
			body.Comment = cloudflare.F(value.(string))
		case "settings":
			body.Settings = cloudflare.F(value)
		default:
			stage.Check(false, "records.json has a field that is not sent: %s", field)
		}
	}
	return body
}

func aRecord(name, content string) dns.ARecordParam {
	return dns.ARecordParam{
		Type:    cloudflare.F(dns.ARecordTypeA),
		Name:    cloudflare.F(stage.Full(name)),
		Content: cloudflare.F(content),
		TTL:     cloudflare.F(dns.TTL1),
	}
}

// wire gives the record's fields by their names on the wire, as the SDK read them.
func wire(record *dns.RecordResponse) any { return typed(*record) }

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

func all(params dns.RecordListParams) []dns.RecordResponse {
	params.ZoneID = cloudflare.F(zone())
	found := []dns.RecordResponse{}
	pager := client.DNS.Records.ListAutoPaging(ctx, params)
	for pager.Next() {
		record := pager.Current()
		found = append(found, *got(&record, nil))
	}
	stage.Must(pager, pager.Err())
	return found
}

func idsOf(records []dns.RecordResponse) []string {
	found := []string{}
	for _, record := range records {
		found = append(found, record.ID)
	}
	sort.Strings(found)
	return found
}

func names(params dns.RecordListParams) []string {
	found := []string{}
	for _, record := range all(params) {
		found = append(found, string(record.Type)+" "+strings.TrimSuffix(strings.TrimSuffix(record.Name, stage.Zone), "."))
	}
	sort.Strings(found)
	return found
}

func createRecords() {
	for _, record := range stage.Wanted {
		params := dns.RecordNewParams{ZoneID: cloudflare.F(zone()), Body: body(record)}
		answer := got(client.DNS.Records.New(ctx, params))
		stage.Holds(wire(answer), record.Expected())
		ids = append(ids, answer.ID)
	}
	kinds := map[string]bool{}
	for _, record := range stage.Wanted {
		kinds[record.Type] = true
	}
	stage.Equal(len(kinds), 21)
	usage := got(client.DNS.Usage.Zone.Get(ctx, dns.UsageZoneGetParams{ZoneID: cloudflare.F(zone())}))
	stage.Equal(int(usage.RecordUsage), len(stage.Wanted))
}

func recordsByPage() {
	found := []dns.RecordResponse{}
	page := got(client.DNS.Records.List(ctx, dns.RecordListParams{ZoneID: cloudflare.F(zone()), PerPage: cloudflare.F(5.0)}))
	stage.Equal([]int64{page.ResultInfo.Page, page.ResultInfo.PerPage}, []int64{1, 5})
	stage.Equal(page.ResultInfo.JSON.ExtraFields["total_count"].Raw(), "22")
	pages := 0
	for page != nil && len(page.Result) > 0 {
		pages++
		found = append(found, page.Result...)
		page = stage.Must(page.GetNextPage())
	}
	stage.Equal(pages, int(math.Ceil(float64(len(ids))/5)))
	sorted := append([]string{}, ids...)
	sort.Strings(sorted)
	stage.Equal(idsOf(found), sorted)
}

func recordsByFilter() {
	type list = dns.RecordListParams
	name := func(is dns.RecordListParamsName) list { return list{Name: cloudflare.F(is)} }
	content := func(is dns.RecordListParamsContent) list { return list{Content: cloudflare.F(is)} }
	comment := func(is dns.RecordListParamsComment) list { return list{Comment: cloudflare.F(is)} }
	exact := name(dns.RecordListParamsName{Exact: cloudflare.F(stage.Full("sub"))})
	stage.Equal(names(list{Type: cloudflare.F(dns.RecordListParamsTypeMX)}), []string{"MX "})
	stage.Equal(names(exact), []string{"DS sub", "NS sub"})
	exact.Type = cloudflare.F(dns.RecordListParamsTypeDS)
	stage.Equal(names(exact), []string{"DS sub"})
	stage.Equal(names(name(dns.RecordListParamsName{Startswith: cloudflare.F("PROXI")})), []string{"A proxied"})
	stage.Equal(names(name(dns.RecordListParamsName{Contains: cloudflare.F("_sip._tcp")})), []string{"SRV _sip._tcp"})
	stage.Equal(names(name(dns.RecordListParamsName{Endswith: cloudflare.F(stage.Full("alias"))})), []string{"CNAME alias"})
	stage.Equal(names(content(dns.RecordListParamsContent{Exact: cloudflare.F("192.0.2.10")})), []string{"A "})
	stage.Equal(names(content(dns.RecordListParamsContent{Startswith: cloudflare.F("192.0.2.")})), []string{"A ", "A proxied"})
	stage.Equal(names(list{Proxied: cloudflare.F(true)}), []string{"A proxied"})
	stage.Equal(names(comment(dns.RecordListParamsComment{Present: cloudflare.F("")})), []string{"AAAA www", "TXT "})
	stage.Equal(names(comment(dns.RecordListParamsComment{Contains: cloudflare.F("mail")})), []string{"TXT "})
	stage.Equal(len(all(comment(dns.RecordListParamsComment{Absent: cloudflare.F("")}))), len(ids)-2)
	either := list{
		Match:   cloudflare.F(dns.RecordListParamsMatchAny),
		Type:    cloudflare.F(dns.RecordListParamsTypePTR),
		Proxied: cloudflare.F(true),
	}
	stage.Equal(names(either), []string{"A proxied", "PTR 10"})
	stage.Equal(names(list{Search: cloudflare.F("mail.example.net")}), []string{"MX "})
}

func recordsInOrder() {
	down := all(dns.RecordListParams{
		Order:     cloudflare.F(dns.RecordListParamsOrderName),
		Direction: cloudflare.F(shared.SortDirectionDesc),
	})
	stage.Check(sort.SliceIsSorted(down, func(a, b int) bool { return down[a].Name > down[b].Name }), "unsorted names")
	up := all(dns.RecordListParams{
		Order:     cloudflare.F(dns.RecordListParamsOrderTTL),
		Direction: cloudflare.F(shared.SortDirectionAsc),
	})
	stage.Check(sort.SliceIsSorted(up, func(a, b int) bool { return up[a].TTL < up[b].TTL }), "unsorted TTLs")
}

func patch() {
	www := id("AAAA", "www")
	change := dns.AAAARecordParam{
		Type:    cloudflare.F(dns.AAAARecordTypeAAAA),
		Name:    cloudflare.F(stage.Full("www")),
		TTL:     cloudflare.F(dns.TTL(600)),
		Comment: cloudflare.F("Patched"),
	}
	wanted := map[string]any{"id": www, "content": "2001:db8::10", "ttl": 600, "comment": "Patched"}
	answer := got(client.DNS.Records.Edit(ctx, www, dns.RecordEditParams{ZoneID: cloudflare.F(zone()), Body: change}))
	stage.Holds(wire(answer), wanted)
	stage.Check(!answer.ModifiedOn.Before(answer.CreatedOn), "modified before it was created")
	again := got(client.DNS.Records.Get(ctx, www, dns.RecordGetParams{ZoneID: cloudflare.F(zone())}))
	stage.Holds(wire(again), wanted)
}

func overwrite() {
	www := id("AAAA", "www")
	whole := dns.AAAARecordParam{
		Type:    cloudflare.F(dns.AAAARecordTypeAAAA),
		Name:    cloudflare.F(stage.Full("www")),
		Content: cloudflare.F("2001:db8::11"),
		TTL:     cloudflare.F(dns.TTL1),
	}
	answer := got(client.DNS.Records.Update(ctx, www, dns.RecordUpdateParams{ZoneID: cloudflare.F(zone()), Body: whole}))
	stage.Holds(wire(answer), map[string]any{"id": www, "content": "2001:db8::11", "ttl": 1, "comment": ""})
}

func batch() {
	patched := dns.BatchPatchARecordParam{ID: cloudflare.F(id("A", "@"))}
	patched.Type, patched.Name = cloudflare.F(dns.ARecordTypeA), cloudflare.F(stage.Zone)
	patched.TTL = cloudflare.F(dns.TTL(120))
	put := dns.BatchPutTXTRecordParam{ID: cloudflare.F(id("TXT", "@"))}
	put.Type, put.Name = cloudflare.F(dns.TXTRecordTypeTXT), cloudflare.F(stage.Zone)
	put.Content, put.TTL = cloudflare.F(`"v=spf1 ~all"`), cloudflare.F(dns.TTL1)
	answer := got(client.DNS.Records.Batch(ctx, dns.RecordBatchParams{
		ZoneID:  cloudflare.F(zone()),
		Deletes: cloudflare.F([]dns.RecordBatchParamsDelete{{ID: cloudflare.F(id("PTR", "10"))}}),
		Patches: cloudflare.F([]dns.BatchPatchUnionParam{patched}),
		Puts:    cloudflare.F([]dns.BatchPutUnionParam{put}),
		Posts: cloudflare.F([]dns.RecordBatchParamsPostUnion{
			aRecord("batch", "192.0.2.20"),
			dns.PTRRecordParam{
				Type:    cloudflare.F(dns.PTRRecordTypePTR),
				Name:    cloudflare.F(stage.Full("10")),
				Content: cloudflare.F("again.example.net"),
				TTL:     cloudflare.F(dns.TTL1),
			},
		}),
	}))
	stage.Equal([]int{len(answer.Deletes), len(answer.Patches), len(answer.Puts), len(answer.Posts)}, []int{1, 1, 1, 2})
	stage.Equal(answer.Deletes[0].ID, id("PTR", "10"))
	stage.Holds(wire(&answer.Patches[0]), map[string]any{"id": id("A", "@"), "ttl": 120, "content": "192.0.2.10"})
	stage.Holds(wire(&answer.Puts[0]), map[string]any{"id": id("TXT", "@"), "content": `"v=spf1 ~all"`, "comment": ""})
	stage.Equal(answer.Posts[1].Content, "again.example.net")
	stage.Equal(len(all(dns.RecordListParams{})), len(ids)+1)
}

func refusedBatch() {
	before := idsOf(all(dns.RecordListParams{}))
	_, err := client.DNS.Records.Batch(ctx, dns.RecordBatchParams{
		ZoneID:  cloudflare.F(zone()),
		Deletes: cloudflare.F([]dns.RecordBatchParamsDelete{{ID: cloudflare.F(id("MX", "@"))}}),
		Posts: cloudflare.F([]dns.RecordBatchParamsPostUnion{
			aRecord("fine", "192.0.2.30"), aRecord("wrong", "no address"),
		}),
	})
	refused(err, 400, 9005)
	stage.Equal(idsOf(all(dns.RecordListParams{})), before)
}

func tags() {
	tagged := aRecord("tagged", "192.0.2.40")
	tagged.Tags = cloudflare.F([]dns.RecordTagsParam{"team:dns", "witness"})
	params := dns.RecordNewParams{ZoneID: cloudflare.F(zone()), Body: tagged}
	plan("free")
	_, err := client.DNS.Records.New(ctx, params)
	stage.Equal(stage.As[*cloudflare.Error](err).StatusCode, 400)
	plan("pro")
	record := got(client.DNS.Records.New(ctx, params))
	stage.Equal(stage.Plain(record.Tags), []any{"team:dns", "witness"})
	stage.Check(!record.TagsModifiedOn.IsZero(), "no tags_modified_on")
	with := func(tag dns.RecordListParamsTag) []string {
		params := dns.RecordListParams{Tag: cloudflare.F(tag), TagMatch: cloudflare.F(dns.RecordListParamsTagMatchAny)}
		return names(params)
	}
	stage.Equal(with(dns.RecordListParamsTag{Exact: cloudflare.F("team:dns")}), []string{"A tagged"})
	stage.Equal(with(dns.RecordListParamsTag{Present: cloudflare.F("witness")}), []string{"A tagged"})
	stage.Equal(with(dns.RecordListParamsTag{Exact: cloudflare.F("team:web")}), []string{})
	got(client.DNS.Records.Delete(ctx, record.ID, dns.RecordDeleteParams{ZoneID: cloudflare.F(zone())}))
	plan("free")
}

func zoneFile() {
	text := *stage.Must(client.DNS.Records.Export(ctx, dns.RecordExportParams{ZoneID: cloudflare.F(zone())}))
	line := stage.Zone + ".\t1\tIN\tMX\t10 mail.example.net.\n"
	stage.Check(strings.Contains(text, line), "no MX in the zone file:\n%s", text)
	before := len(all(dns.RecordListParams{}))
	answer := got(client.DNS.Records.Import(ctx, dns.RecordImportParams{
		ZoneID: cloudflare.F(zone()),
		File:   cloudflare.F("imported." + stage.Zone + ". 300 IN A 192.0.2.50\n"),
	}))
	stage.Equal([]float64{answer.RecsAdded, answer.TotalRecordsParsed}, []float64{1, 1})
	stage.Equal(len(all(dns.RecordListParams{})), before+1)
}

func beginRecords() {
	stage.Situation("records of all types are created", createRecords)
	stage.Situation("records are read", func() {
		for index, record := range stage.Wanted {
			answer := got(client.DNS.Records.Get(ctx, ids[index], dns.RecordGetParams{ZoneID: cloudflare.F(zone())}))
			stage.Holds(wire(answer), record.Expected())
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
		deletes := []dns.RecordBatchParamsDelete{}
		for _, record := range all(dns.RecordListParams{}) {
			deletes = append(deletes, dns.RecordBatchParamsDelete{ID: cloudflare.F(record.ID)})
		}
		stage.Check(len(deletes) > len(ids), "%d records", len(deletes))
		params := dns.RecordBatchParams{ZoneID: cloudflare.F(zone()), Deletes: cloudflare.F(deletes)}
		stage.Equal(len(got(client.DNS.Records.Batch(ctx, params)).Deletes), len(deletes))
		stage.Equal(len(all(dns.RecordListParams{})), 0)
	})
}
