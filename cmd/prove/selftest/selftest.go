// Package selftest plants bugs in the server, one at a time, and reports which of them a proof finds.
//
// A bug is a patch in the folder bugs. It breaks one rule at the place that keeps the rule; the proof that finds it may use only
// the contract. The compiler's option -overlay builds the server with it, so no bug is ever in the repository's own files or in
// the product's program.
package selftest

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/report"
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
	return slices.DeleteFunc(slices.Clone(catalogue), func(b Row) bool {
		return !slices.Contains(names, b.Name) && !slices.Contains(names, "all")
	})
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

// programs are the packages of a server, with the suffixes of their programs' names.
var programs = map[string]string{"./cmd/stoa": "", "./cmd/inspect": "-inspect"}

// Build builds the server of the repository in root with a bug, into a folder that is made, and returns its program. It only reads
// the files of the repository. It uses the compiler's caches, so a build takes as long as after a change of that file.
func Build(ctx context.Context, root, folder string, bug Row) (program string, err error) {
	program = filepath.Join(folder, "stoa")
	for source, end := range programs {
		if err := bug.build(ctx, root, folder, "-ldflags", "-w", "-o", program+end, source); err != nil {
			return "", err
		}
	}
	return program, nil
}

// build runs go build with the bug; folder holds the changed file.
func (b Row) build(ctx context.Context, root, folder string, arguments ...string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	text, err := b.planted(root)
	if err != nil {
		return err
	}
	changed, overlay := filepath.Join(folder, "changed"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, filepath.FromSlash(b.File)): changed}})
	if err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay}, arguments...)...)
	build.Dir, build.Env = root, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", b.Name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Result is the result of a proof of one bug, or of the server without one, which has no name.
type Result struct {
	Bug Row
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string
	// After is the time from the servers' start until By found it.
	After time.Duration
	// Violation is the first violation; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation, NotTried string
}

// Verdict returns the result in a word or two.
func (r Result) Verdict() string {
	switch {
	case r.By != "":
		return r.By
	case r.NotTried != "":
		return "no result: " + r.NotTried
	}
	return "missed"
}

// Results are the results in the order of their proofs.
type Results []Result

// Judge returns an error if something was found in the server without a bug, if its run has no result, or if fewer than least bugs
// were found.
func (r Results) Judge(least int) error {
	if sound := r[0]; sound.By != "" {
		return fmt.Errorf("a promise was broken by the server without a bug: %s: %s", sound.By, sound.Violation)
	} else if sound.NotTried != "" {
		return fmt.Errorf("the server without a bug was not tried: %s", sound.NotTried)
	}
	if found, missed := r.count(); found < least {
		return fmt.Errorf("too few bugs were found: %d, %d are wanted; missed: %s", found, least, strings.Join(missed, ", "))
	}
	return nil
}

// count returns how many bugs were found, and the names of the missed ones.
func (r Results) count() (found int, missed []string) {
	for _, result := range r[1:] {
		if result.By != "" {
			found++
		} else if result.NotTried == "" {
			missed = append(missed, result.Bug.Name)
		}
	}
	return found, missed
}

// Fill writes the verdict and the table of a result.
func (r Results) Fill(to *report.Result) {
	found, missed := r.count()
	tried := found + len(missed)
	to.Verdict = fmt.Sprintf("**%d of %d bugs were found**, %d of the catalogue were not tried.", found, tried, len(catalogue)-tried)
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after"}}
	for _, result := range r {
		promise := cmp.Or(result.Bug.Promise, "the server without a bug")
		bugs.Rows = append(bugs.Rows, []string{result.Bug.Name, promise, result.Verdict(), report.Seconds(result.After)})
	}
	to.Tables = []report.Table{bugs}
}
