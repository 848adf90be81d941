// Package selftest plants bugs in the server, one at a time, and says which of them a proof finds.
//
// A bug is a row of the catalogue: a text of one file and the text that takes its place. The server is built with it by the option
// -overlay of the compiler, so no bug is ever in the repository's own files or in the product's program. A row breaks one rule at the
// place where that rule is kept; what finds it may rest on the contract alone.
package selftest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Row is one bug of the catalogue.
type Row struct {
	// Name is how the row is chosen.
	Name string
	// Promise is the promise that it breaks, in one sentence, with the section of the contract.
	Promise string
	// File is below the repository's root. Old occurs in it exactly once; New takes its place.
	File, Old, New string
	// Faults are the faults without which the promise cannot be broken, separated by commas; empty if it can be without any.
	Faults string
	// Minutes is the length of the load if the promise needs another one than the rest, else 0.
	Minutes float64
}

// catalogue is every bug, by what it concerns.
var catalogue = slices.Concat(orders, money, channel, files, owners, publications, operation, life)

// ErrUnknown is returned for a name that no row has.
var ErrUnknown = errors.New("selftest: no such bug")

// Select returns the rows of these names, which are separated by commas, in the order of the catalogue: every row for "all".
func Select(names string) ([]Row, error) {
	if names == "all" {
		return slices.Clone(catalogue), nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(catalogue, func(b Row) bool { return b.Name == name }) {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(catalogue), func(b Row) bool { return !slices.Contains(wanted, b.Name) }), nil
}

// Share is one of several parts of some rows, as in "2/4": every fourth row from the second on, so that each share has bugs of all kinds.
type Share struct{ number, of int }

// UnmarshalText reads a share from 1/n to n/n.
func (s *Share) UnmarshalText(text []byte) error {
	number, of, _ := strings.Cut(string(text), "/")
	var err, errOf error
	s.number, err = strconv.Atoi(number)
	s.of, errOf = strconv.Atoi(of)
	if err != nil || errOf != nil || s.number < 1 || s.number > s.of {
		return fmt.Errorf("%q is no share such as 2/4", text)
	}
	return nil
}

// Rows returns the rows of the share.
func (s Share) Rows(all []Row) (rows []Row) {
	for i, b := range all {
		if i%s.of == s.number-1 {
			rows = append(rows, b)
		}
	}
	return rows
}

// Names are the names of all rows.
func Names() []string {
	names := make([]string, len(catalogue))
	for i, b := range catalogue {
		names[i] = b.Name
	}
	return names
}

// planted returns the text of the bug's file below root without and with the bug, or an error if the row fits the file no more.
func (b Row) planted(root string) (original, planted string, err error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.File)))
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", b.Name, err)
	}
	if n := strings.Count(string(text), b.Old); n != 1 {
		return "", "", fmt.Errorf("%s: its text occurs %d times in %s: write the row anew", b.Name, n, b.File)
	}
	return string(text), strings.Replace(string(text), b.Old, b.New, 1), nil
}
