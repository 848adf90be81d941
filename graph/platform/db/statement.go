package db

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stoa/graph/platform/db/prepared"
)

// Statement is one SQL statement of a domain's .sql files.
type Statement struct {
	// Name is the one in the file.
	Name string
	// Types are those of the parameters, in the order in which arguments are passed.
	Types []string
	// Text has $1, $2, … in place of the named parameters.
	Text string
}

// Statements are those of the .sql files of one domain, by name.
//
// A file holds any number of statements. Each begins with a line that names it, its parameters and their types:
//
//	-- name: list_contacts(caller uuid, state text, max integer)
//	SELECT … WHERE agent_id = :caller …
//
// A statement that begins with the comment prepared.PlanPerValue keeps it; other comments are not sent.
//
// A parameter is written :name, as in psql, so that after
//
//	\set caller '''0190…'''
//
// a statement can be pasted into psql unchanged. Arguments are passed in the order of the heading.
type Statements map[string]*Statement

// loaded are all statements of the program, for the test that prepares them.
var loaded []*Statement

// Loaded returns every statement that was loaded.
func Loaded() []*Statement { return slices.Clone(loaded) }

// Load reads the .sql files at the top of a file system, at the start of the program. It panics where a heading, a parameter or a name
// is wrong.
func Load(files fs.FS) Statements {
	paths, err := fs.Glob(files, "*.sql")
	if err != nil || len(paths) == 0 {
		panic(fmt.Sprintf("db: no .sql files: %v", err))
	}
	all := make(Statements)
	for _, path := range paths {
		raw, err := fs.ReadFile(files, path)
		if err != nil {
			panic("db: " + err.Error())
		}
		found, err := parseStatements(string(raw))
		if err != nil {
			panic(fmt.Sprintf("db: %s: %v", path, err))
		}
		for _, s := range found {
			if all[s.Name] != nil {
				panic(fmt.Sprintf("db: %s: there are two statements %q", path, s.Name))
			}
			all[s.Name] = s
		}
		loaded = append(loaded, found...)
	}
	return all
}

// Named returns a statement. It panics if it has no statement of that name.
func (all Statements) Named(name string) *Statement {
	s := all[name]
	if s == nil {
		panic(fmt.Sprintf("db: there is no statement %q", name))
	}
	return s
}

var (
	heading   = regexp.MustCompile(`(?m)^-- name: (\w+)\(([^)]*)\)[ \t]*$`)
	parameter = regexp.MustCompile(`^(\w+) ([\w \[\]]+)$`)
)

func parseStatements(text string) ([]*Statement, error) {
	headings := heading.FindAllStringSubmatchIndex(text, -1)
	if len(headings) == 0 {
		return nil, errors.New("no line `-- name: …(…)`")
	}
	found := make([]*Statement, len(headings))
	for i, at := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		s := &Statement{Name: text[at[2]:at[3]]}
		var names []string
		for field := range strings.SplitSeq(text[at[4]:at[5]], ",") {
			if field = strings.TrimSpace(field); field == "" {
				continue
			}
			pair := parameter.FindStringSubmatch(field)
			if pair == nil {
				return nil, fmt.Errorf("%s: %q is no name and type", s.Name, field)
			}
			names, s.Types = append(names, pair[1]), append(s.Types, pair[2])
		}
		var err error
		if s.Text, err = number(strings.TrimSuffix(strings.TrimSpace(text[at[1]:end]), ";"), names); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		found[i] = s
	}
	return found, nil
}

// token matches a parameter, or something else that may hold a colon: a comment, a quoted text or name, a cast.
var token = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$|::|:[a-z_]\w*`)

// number puts $1, $2, … in place of the named parameters; comments are left out, so that they are not sent.
func number(text string, names []string) (string, error) {
	used := make([]bool, len(names))
	var unknown error
	text = token.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found == prepared.PlanPerValue:
			return found
		case strings.HasPrefix(found, "--"), strings.HasPrefix(found, "/*"):
			return ""
		case found[0] != ':' || found == "::":
			return found
		}
		i := slices.Index(names, found[1:])
		if i < 0 {
			unknown = fmt.Errorf("the heading does not name %s", found)
			return found
		}
		used[i] = true
		return "$" + strconv.Itoa(i+1)
	})
	if i := slices.Index(used, false); i >= 0 && unknown == nil {
		unknown = fmt.Errorf("the parameter %s is not used", names[i])
	}
	return strings.TrimSpace(text), unknown
}
