package main

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/cloudflare/cloudflare-go/v7/dns"
	"kflare.dev/testing/clients/stage"
)

// field is what the SDK remembers of each field of an answer.
type field interface {
	IsNull() bool
	IsMissing() bool
	IsInvalid() bool
}

// variants has the SDK's type of each type of record.
var variants = map[dns.RecordResponseType]reflect.Type{
	"A":          reflect.TypeFor[dns.RecordResponseARecord](),
	"AAAA":       reflect.TypeFor[dns.RecordResponseAAAARecord](),
	"CAA":        reflect.TypeFor[dns.RecordResponseCAARecord](),
	"CERT":       reflect.TypeFor[dns.RecordResponseCERTRecord](),
	"CNAME":      reflect.TypeFor[dns.RecordResponseCNAMERecord](),
	"DNSKEY":     reflect.TypeFor[dns.RecordResponseDNSKEYRecord](),
	"DS":         reflect.TypeFor[dns.RecordResponseDSRecord](),
	"HTTPS":      reflect.TypeFor[dns.RecordResponseHTTPSRecord](),
	"LOC":        reflect.TypeFor[dns.RecordResponseLOCRecord](),
	"MX":         reflect.TypeFor[dns.RecordResponseMXRecord](),
	"NAPTR":      reflect.TypeFor[dns.RecordResponseNAPTRRecord](),
	"NS":         reflect.TypeFor[dns.RecordResponseNSRecord](),
	"OPENPGPKEY": reflect.TypeFor[dns.RecordResponseOpenpgpkeyRecord](),
	"PTR":        reflect.TypeFor[dns.RecordResponsePTRRecord](),
	"SMIMEA":     reflect.TypeFor[dns.RecordResponseSMIMEARecord](),
	"SRV":        reflect.TypeFor[dns.RecordResponseSRVRecord](),
	"SSHFP":      reflect.TypeFor[dns.RecordResponseSSHFPRecord](),
	"SVCB":       reflect.TypeFor[dns.RecordResponseSVCBRecord](),
	"TLSA":       reflect.TypeFor[dns.RecordResponseTLSARecord](),
	"TXT":        reflect.TypeFor[dns.RecordResponseTXTRecord](),
	"URI":        reflect.TypeFor[dns.RecordResponseURIRecord](),
}

var differences = map[string]bool{}

// got gives the answer of a call that may not fail, and notes where it departs from the client's types.
func got[T any](answer *T, err error) *T {
	stage.Must(answer, err)
	note(reflect.ValueOf(answer))
	return answer
}

// typed is the record as the type that the SDK has for its type. The SDK itself reads every record as an A record
// (its issue 4300), so the text is read again.
func typed(record dns.RecordResponse) any {
	variant, known := variants[record.Type]
	stage.Check(known, "a record of type %q", record.Type)
	if taken := reflect.TypeOf(record.AsUnion()); taken != variant {
		differences[variant.Name()+": read as "+taken.Name()] = true
	}
	value := reflect.New(variant)
	err := json.Unmarshal([]byte(record.JSON.RawJSON()), value.Interface())
	stage.Check(err == nil, "%v", err)
	return value.Interface()
}

// note walks through an answer: every struct of the SDK has a twin, JSON, that says what came for each field.
func note(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			note(value.Elem())
		}
	case reflect.Slice:
		for index := range value.Len() {
			note(value.Index(index))
		}
	case reflect.Struct:
		if record, is := value.Interface().(dns.RecordResponse); is {
			value = reflect.ValueOf(typed(record)).Elem()
		}
		if value.FieldByName("JSON").IsValid() {
			fields(value)
			extras(value)
		}
	}
}

// nameOf is a field's name on the wire.
func nameOf(about reflect.StructField) string { return strings.Split(about.Tag.Get("json"), ",")[0] }

func fields(value reflect.Value) {
	kind, twins := value.Type(), value.FieldByName("JSON")
	for index := range kind.NumField() {
		about := kind.Field(index)
		if about.Anonymous {
			fields(value.Field(index))
			continue
		}
		twin := twins.FieldByName(about.Name)
		if about.Name == "JSON" || !twin.IsValid() {
			continue
		}
		came, is := twin.Interface().(field)
		if !is {
			continue
		}
		api, name := about.Tag.Get("api"), kind.Name()+"."+nameOf(about)
		switch {
		case came.IsMissing():
			if strings.Contains(api, "required") {
				differences[name+": missing"] = true
			}
		case came.IsNull():
			if !strings.Contains(api, "nullable") {
				differences[name+": null"] = true
			}
		case came.IsInvalid():
			differences[name+": another type"] = true
		default:
			note(value.Field(index))
		}
	}
}

// extras notes the fields that neither the type nor one that it embeds knows. The SDK's types have the result alone:
// the envelope around it (pages, errors) is not looked at.
func extras(value reflect.Value) {
	kind := value.Type()
	isPage := strings.HasPrefix(kind.Name(), "V4PagePagination") || strings.HasPrefix(kind.Name(), "SinglePage")
	if kind.Name() == "Error" || isPage {
		return
	}
	known := map[string]bool{}
	for _, about := range reflect.VisibleFields(kind) {
		known[nameOf(about)] = true
	}
	for _, extra := range value.FieldByName("JSON").FieldByName("ExtraFields").MapKeys() {
		if !known[extra.String()] {
			differences[kind.Name()+"."+extra.String()+": extra"] = true
		}
	}
}
