// Package stage holds what every situation of the two Go witnesses needs: settings, the sandbox's control surface,
// the lines that are printed, and the notes on known differences. It knows no client.
package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"
)

var (
	// Account is the account in which the zone is made.
	Account = needed("CLOUDFLARE_ACCOUNT_ID")
	// Zone is the name of the throw-away zone: made here, and deleted here.
	Zone = needed("WITNESS_ZONE")
	// ReadToken may read zones and records, and nothing else.
	ReadToken = os.Getenv("WITNESS_READ_TOKEN")
	// OwnedToken belongs to the account.
	OwnedToken = os.Getenv("WITNESS_OWNED_TOKEN")
	// Control is where the sandbox is commanded; empty on a real account.
	Control = os.Getenv("WITNESS_CONTROL")
	// Wanted is the shared list of records.
	Wanted = read[[]Record]("WITNESS_RECORDS")
)

// Record is one record of the shared list.
type Record struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Body   map[string]any `json:"body"`
	Answer map[string]any `json:"answer"`
}

// Expected is what the record must read: what was sent, and what Cloudflare makes of it.
func (r Record) Expected() map[string]any {
	expected := map[string]any{"type": r.Type, "name": Full(r.Name)}
	for _, fields := range []map[string]any{r.Body, r.Answer} {
		for field, value := range fields {
			expected[field] = value
		}
	}
	return expected
}

// Full is the full name of a record of the zone.
func Full(name string) string {
	if name == "@" {
		return Zone
	}
	return name + "." + Zone
}

// needed is a setting that there must be.
func needed(name string) string {
	value := os.Getenv(name)
	if value == "" {
		fmt.Fprintf(os.Stderr, "%s is not set; see docs/reference/witnesses.md\n", name)
		os.Exit(1)
	}
	return value
}

func read[T any](variable string) T {
	var value T
	text, err := os.ReadFile(needed(variable))
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// After Ctrl-C nothing is done any more but cleaning up.
var interrupted atomic.Bool

func init() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		interrupted.Store(true)
	}()
}

type skipped string
type failed string

// Skip leaves the situation out, and says why.
func Skip(why string) { panic(skipped(why)) }

// Check ends the situation unless it holds.
func Check(holds bool, format string, arguments ...any) {
	if !holds {
		panic(failed(fmt.Sprintf(format, arguments...)))
	}
}

// Equal ends the situation unless the two are alike.
func Equal(got, wanted any) { Check(reflect.DeepEqual(got, wanted), "got %v, wanted %v", got, wanted) }

// Must gives the answer of a call that may not fail.
func Must[T any](value T, err error) T {
	Check(err == nil, "%v", err)
	return value
}

var ok, failures, skips int

// Situation runs a check and prints what came of it.
func Situation(name string, check func()) {
	if interrupted.Load() {
		check = func() { Skip("interrupted") }
	}
	CleanUp(name, check)
}

// CleanUp is a situation that is played after Ctrl-C, too.
func CleanUp(name string, check func()) {
	defer func() {
		switch what := recover().(type) {
		case nil:
			ok++
			fmt.Printf("ok     %s\n", name)
		case skipped:
			skips++
			fmt.Printf("skip   %s: %s\n", name, string(what))
		case failed:
			failures++
			fmt.Printf("FAILED %s: %s\n", name, string(what))
		default:
			// A fault of the witness itself must not keep the zone from being cleaned up.
			failures++
			fmt.Printf("FAILED %s: %v\n", name, what)
		}
	}()
	check()
}

// Close prints the count and ends the program.
func Close(client string) {
	fmt.Printf("%s: %d passed, %d failed, %d skipped\n", client, ok, failures, skips)
	if failures > 0 || interrupted.Load() {
		os.Exit(1)
	}
	os.Exit(0)
}

// Command commands the sandbox; on a real account the situation is left out.
func Command(why, method, path string, body any) {
	if Control == "" {
		Skip(why)
	}
	request := Must(http.NewRequest(method, Control+path, bytes.NewReader(Must(json.Marshal(body)))))
	answer := Must(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	text := Must(io.ReadAll(answer.Body))
	Check(answer.StatusCode == http.StatusOK, "%s", text)
}

// As gives the error as that type, or ends the situation.
func As[T error](err error) T {
	var typed T
	Check(err != nil, "not refused")
	Check(errors.As(err, &typed), "another error: %T %v", err, err)
	return typed
}

// Plain is a value as JSON has it: objects, lists, strings, numbers.
func Plain(value any) any {
	var plain any
	text := Must(json.Marshal(value))
	Check(json.Unmarshal(text, &plain) == nil, "no JSON: %s", text)
	return plain
}

// Holds ends the situation unless every field of `expected` stands in `got`, in objects within too.
func Holds(got any, expected map[string]any) {
	fields := Plain(got).(map[string]any)
	for field, value := range expected {
		wanted := Plain(value)
		if inner, is := wanted.(map[string]any); is {
			Holds(fields[field], inner)
			continue
		}
		Check(reflect.DeepEqual(fields[field], wanted), "%s: got %v, wanted %v", field, fields[field], wanted)
	}
}

// Compare ends the situation unless what was found and what is noted, with `*` for any word, cover each other.
func Compare(client string, found map[string]bool) {
	notes := read[map[string][]struct{ What string }]("WITNESS_DIFFERENCES")[client]
	seen := map[string]bool{}
	var unknown, unseen []string
	for one := range found {
		known := false
		for _, note := range notes {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(note.What), `\*`, "[^.:]+")
			if regexp.MustCompile("^" + pattern + "$").MatchString(one) {
				known, seen[note.What] = true, true
			}
		}
		if !known {
			unknown = append(unknown, one)
		}
	}
	for _, note := range notes {
		if !seen[note.What] {
			unseen = append(unseen, note.What)
		}
	}
	sort.Strings(unknown)
	if Control != "" {
		Check(len(unknown) == 0, "not noted:\n  %s", strings.Join(unknown, "\n  "))
		Check(len(unseen) == 0, "noted, and not seen:\n  %s", strings.Join(unseen, "\n  "))
		return
	}
	// What the real API answers is right by definition: where it departs from our notes, they are wrong.
	for _, one := range unknown {
		fmt.Printf("differs %s: is not noted\n", one)
	}
	for _, one := range unseen {
		fmt.Printf("differs %s: is noted and did not happen\n", one)
	}
}
