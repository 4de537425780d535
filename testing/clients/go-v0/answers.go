package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/cloudflare/cloudflare-go"
)

// types has the client's type of `result` for each call that it has a type for; the rest goes through its Raw.
var types = map[string]reflect.Type{
	"GET /user/tokens/verify":                       reflect.TypeFor[cloudflare.APITokenVerifyBody](),
	"GET /accounts":                                 reflect.TypeFor[[]cloudflare.Account](),
	"GET /accounts/{}":                              reflect.TypeFor[cloudflare.Account](),
	"GET /zones":                                    reflect.TypeFor[[]cloudflare.Zone](),
	"POST /zones":                                   reflect.TypeFor[cloudflare.Zone](),
	"GET /zones/{}":                                 reflect.TypeFor[cloudflare.Zone](),
	"PATCH /zones/{}":                               reflect.TypeFor[cloudflare.Zone](),
	"DELETE /zones/{}":                              reflect.TypeFor[cloudflare.ZoneID](),
	"GET /zones/{}/hold":                            reflect.TypeFor[cloudflare.ZoneHold](),
	"GET /zones/{}/dns_records":                     reflect.TypeFor[[]cloudflare.DNSRecord](),
	"POST /zones/{}/dns_records":                    reflect.TypeFor[cloudflare.DNSRecord](),
	"GET /zones/{}/dns_records/{}":                  reflect.TypeFor[cloudflare.DNSRecord](),
	"PATCH /zones/{}/dns_records/{}":                reflect.TypeFor[cloudflare.DNSRecord](),
	"DELETE /zones/{}/dns_records/{}":               reflect.TypeFor[cloudflare.DNSRecord](),
	"GET /accounts/{}/cfd_tunnel":                   reflect.TypeFor[[]cloudflare.Tunnel](),
	"POST /accounts/{}/cfd_tunnel":                  reflect.TypeFor[cloudflare.Tunnel](),
	"GET /accounts/{}/cfd_tunnel/{}":                reflect.TypeFor[cloudflare.Tunnel](),
	"DELETE /accounts/{}/cfd_tunnel/{}":             reflect.TypeFor[cloudflare.Tunnel](),
	"GET /accounts/{}/cfd_tunnel/{}/connections":    reflect.TypeFor[[]cloudflare.Connection](),
	"GET /accounts/{}/cfd_tunnel/{}/token":          reflect.TypeFor[string](),
	"GET /accounts/{}/cfd_tunnel/{}/configurations": reflect.TypeFor[cloudflare.TunnelConfigurationResult](),
	"PUT /accounts/{}/cfd_tunnel/{}/configurations": reflect.TypeFor[cloudflare.TunnelConfigurationResult](),
	"errors":      reflect.TypeFor[[]cloudflare.ResponseInfo](),
	"messages":    reflect.TypeFor[[]cloudflare.ResponseInfo](),
	"result_info": reflect.TypeFor[cloudflare.ResultInfo](),
}

var (
	identifier  = regexp.MustCompile(`\b([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`)
	differences = map[string]bool{}
)

// watch passes answers on and notes where they depart from the client's types.
type watch struct{}

func (watch) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var body map[string]any
	if err == nil && json.Unmarshal(text, &body) == nil {
		path := strings.TrimPrefix(request.URL.Path, "/client/v4")
		body[request.Method+" "+identifier.ReplaceAllString(path, "{}")] = body["result"]
		for part, value := range body {
			if kind, known := types[part]; known && value != nil {
				compare(kind, value, part)
			}
		}
	}
	return answer, err
}

// compare walks through type and value. What is null or missing is the type's zero, as Go has it.
func compare(kind reflect.Type, value any, at string) {
	switch {
	case value == nil || kind.Kind() == reflect.Interface:
	case kind.Kind() == reflect.Pointer:
		compare(kind.Elem(), value, at)
	case kind.String() == "time.Time":
		expect[string](value, at)
	case kind.Kind() == reflect.Struct:
		fields, is := value.(map[string]any)
		if !is {
			differences[at+": another type"] = true
			return
		}
		known := map[string]reflect.Type{}
		for _, about := range reflect.VisibleFields(kind) {
			known[strings.Split(about.Tag.Get("json"), ",")[0]] = about.Type
		}
		for field, inner := range fields {
			here := kind.Name() + "." + field
			if of, is := known[field]; is {
				compare(of, inner, here)
			} else {
				differences[here+": extra"] = true
			}
		}
	case kind.Kind() == reflect.Slice:
		list, is := value.([]any)
		if !is {
			differences[at+": another type"] = true
		}
		for _, inner := range list {
			compare(kind.Elem(), inner, at)
		}
	case kind.Kind() == reflect.String:
		expect[string](value, at)
	case kind.Kind() == reflect.Bool:
		expect[bool](value, at)
	default:
		expect[float64](value, at)
	}
}

func expect[T any](value any, at string) {
	if _, is := value.(T); !is {
		differences[at+": another type"] = true
	}
}
