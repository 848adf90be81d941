// Package selftest plants bugs in the server, one at a time, and reports which of them a proof finds.
//
// A bug is a patch in the folder bugs. It breaks one rule at the place that keeps the rule; the proof that finds it may use only
// the contract. The compiler's option -overlay builds the server with it, so no bug is ever in the repository's own files or in
// the product's program.
package selftest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Row is one bug of the catalogue: a patch whose first lines are its promise and its needs.
type Row struct {
	// Name is the name of the file. It selects the row.
	Name string
	// Promise is the promise that it breaks, in one sentence, with the section of the contract.
	Promise string
	// File is relative to the repository's root. Each hunk removes lines that are in the file exactly once, at any position.
	File  string
	hunks []string
	// Faults are the faults without which the promise cannot be broken, separated by commas; empty if it needs none.
	Faults string
	// Minutes is the length of the load if the promise needs a special one, else 0.
	Minutes float64
}

//go:embed bugs/*.patch
var patches embed.FS

// catalogue is every bug, by name.
var catalogue = readCatalogue()

func readCatalogue() (rows []Row) {
	files, err := fs.Glob(patches, "bugs/*.patch")
	for _, file := range files {
		text, failed := patches.ReadFile(file)
		err = errors.Join(err, failed)
		rows = append(rows, parse(strings.TrimSuffix(filepath.Base(file), ".patch"), string(text)))
	}
	if err != nil {
		panic(err) // the files are in the program
	}
	return rows
}

// parse reads a patch.
func parse(name, text string) Row {
	head, diff, _ := strings.Cut(text, "--- a/")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	b := Row{Name: name, Promise: lines[0]}
	for _, line := range lines[1:] {
		switch member, value, _ := strings.Cut(line, ": "); member {
		case "faults":
			b.Faults = value
		case "minutes":
			b.Minutes, _ = strconv.ParseFloat(value, 64)
		}
	}
	b.File, diff, _ = strings.Cut(diff, "\n")
	b.hunks = strings.Split(diff, "\n@@ ")[1:]
	return b
}

// Select returns the rows of these names, or every row for "all", in the order of the catalogue.
func Select(names ...string) []Row {
	return slices.DeleteFunc(slices.Clone(catalogue), func(b Row) bool { return !slices.Contains(names, b.Name) && !slices.Contains(names, "all") })
}

// Share returns every row of a number, counted from 1, among so many: each share has bugs of all kinds.
func Share(all []Row, number, of int) (rows []Row) {
	for i, b := range all {
		if i%of == number-1 {
			rows = append(rows, b)
		}
	}
	return rows
}

// Names returns the names of all rows.
func Names() []string {
	names := make([]string, len(catalogue))
	for i, b := range catalogue {
		names[i] = b.Name
	}
	return names
}

// planted returns the text of the bug's file below root with the bug, or an error if the row no longer fits the file.
func (b Row) planted(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.File)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.Name, err)
	}
	planted := "\n" + string(text)
	for _, hunk := range b.hunks {
		var before, after strings.Builder
		before.WriteByte('\n')
		after.WriteByte('\n')
		_, lines, _ := strings.Cut(hunk, "\n")
		for line := range strings.Lines(strings.TrimSuffix(lines, "\n") + "\n") {
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		if n := strings.Count(planted, before.String()); n != 1 {
			return "", fmt.Errorf("%s: its text occurs %d times in %s: write the row anew", b.Name, n, b.File)
		}
		planted = strings.Replace(planted, before.String(), after.String(), 1)
	}
	return planted[1:], nil
}
