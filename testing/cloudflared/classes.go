package main

import (
	"regexp/syntax"
	"sort"
	"unicode"
)

// class is a Unicode class by its name: whether Go has it, and a sum over its ranges, as written and with (?i).
// Surrogates are left out, as they occur in no text.
type class struct {
	Name   string `json:"name"`
	Taken  bool   `json:"taken"`
	Plain  string `json:"plain"`
	Folded string `json:"folded"`
}

func classes() []class {
	names := []string{"Any", "ASCII", "Assigned", "Garay", "Todhri", "Zyyy", "Alphabetic", "LD", ""}
	for name := range unicode.Categories {
		names = append(names, name)
	}
	for name := range unicode.Scripts {
		names = append(names, name)
	}
	for name := range unicode.CategoryAliases {
		names = append(names, name)
	}
	for name := range unicode.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	var rows []class
	for _, name := range names {
		row := class{Name: name}
		plain, err := syntax.Parse(`[\p{`+name+`}]`, syntax.Perl)
		if row.Taken = err == nil; row.Taken {
			folded, _ := syntax.Parse(`(?i)[\p{`+name+`}]`, syntax.Perl)
			row.Plain, row.Folded = sum(plain), sum(folded)
		}
		rows = append(rows, row)
	}
	return rows
}

// sum is FNV-1a over the ends of the ranges.
func sum(re *syntax.Regexp) string {
	var in [unicode.MaxRune + 2]bool
	switch re.Op {
	case syntax.OpAnyChar:
		re.Rune = []rune{0, unicode.MaxRune}
	case syntax.OpLiteral:
		first := re.Rune[0]
		re.Rune = []rune{first, first}
		for r := unicode.SimpleFold(first); re.Flags&syntax.FoldCase != 0 && r != first; r = unicode.SimpleFold(r) {
			re.Rune = append(re.Rune, r, r)
		}
	}
	for i := 0; i < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			in[r] = r < 0xD800 || r > 0xDFFF
		}
	}
	hash := uint64(0xcbf29ce484222325)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if in[r] && (r == 0 || !in[r-1]) {
			hash = (hash ^ uint64(r)) * 0x100000001b3
		}
		if in[r] && !in[r+1] {
			hash = (hash ^ uint64(r)) * 0x100000001b3
		}
	}
	const digits = "0123456789abcdef"
	text := make([]byte, 16)
	for i := range text {
		text[i] = digits[hash>>(60-4*i)&15]
	}
	return string(text)
}

// folds are the characters that are one without regard to case, each group once.
func folds() [][]rune {
	var groups [][]rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		group := []rune{r}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			group = append(group, other)
		}
		sort.Slice(group, func(i, j int) bool { return group[i] < group[j] })
		if len(group) > 1 && group[0] == r {
			groups = append(groups, group)
		}
	}
	return groups
}
