// Asks Go what its regexp, net/url and net packages make of many inputs, and writes the answers as test data for the
// model of cloudflared in crates/kinds. Run it with Go 1.26, which cloudflared is built with:
//
//	go run . ../../crates/kinds/testdata/cloudflared
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
)

// draws is the seed of everything that is made up: the same rows each time.
var draws = rand.New(rand.NewSource(12))

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . FOLDER")
		os.Exit(1)
	}
	write("expressions.json", expressions())
	write("classes.json", classes())
	write("folds.json", folds())
	write("urls.json", urls())
	write("hosts.json", hosts())
	write("networks.json", networks())
}

// write puts one row on each line, so that a change can be read.
func write[T any](name string, rows []T) {
	text := []byte("[\n")
	for i, row := range rows {
		line, err := json.Marshal(row)
		if err == nil && i+1 < len(rows) {
			line = append(line, ',')
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text = append(append(text, line...), '\n')
	}
	text = append(text, "]\n"...)
	if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pick[T any](from []T) T {
	return from[draws.Intn(len(from))]
}
