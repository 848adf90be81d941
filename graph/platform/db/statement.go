package db

import (
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
//
// What several statements share, such as the columns of a card, is a text that they include (see texts).
type Statements map[string]*Statement

// loaded are all statements of the program, for the test that prepares them.
var loaded []*Statement

// Loaded returns every statement that was loaded.
func Loaded() []*Statement { return slices.Clone(loaded) }

// Load reads the .sql files at the top of a file system, at the start of the program. Its statements may also include the texts of
// shared, such as the .sql files of another domain, which hold nothing else. It panics if a heading, a parameter or a name is wrong, or
// if nothing includes a text.
func Load(files fs.FS, shared ...fs.FS) Statements {
	all, known := make(Statements), make(texts)
	for _, from := range shared {
		if found := readFiles(from, known); len(found) > 0 {
			panic(fmt.Sprintf("db: the statement %q stands among shared texts", found[0].Name))
		}
	}
	found := readFiles(files, known)
	if len(found) == 0 {
		panic("db: no line `-- name: …(…)`")
	}
	for _, s := range found {
		if all[s.Name] != nil {
			panic(fmt.Sprintf("db: there are two statements %q", s.Name))
		}
		all[s.Name] = s
	}
	if unused := known.unused(); len(unused) > 0 {
		panic(fmt.Sprintf("db: no statement includes the texts %q", unused))
	}
	loaded = append(loaded, found...)
	return all
}

func readFiles(files fs.FS, known texts) []*Statement {
	paths, err := fs.Glob(files, "*.sql")
	if err != nil || len(paths) == 0 {
		panic(fmt.Sprintf("db: no .sql files: %v", err))
	}
	var all []*Statement
	for _, path := range paths {
		raw, err := fs.ReadFile(files, path)
		if err != nil {
			panic("db: " + err.Error())
		}
		found, err := parseFile(string(raw), known)
		if err != nil {
			panic(fmt.Sprintf("db: %s: %v", path, err))
		}
		all = append(all, found...)
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
	heading   = regexp.MustCompile(`(?m)^-- (name|text): (\w+)(?:\(([^)]*)\))?[ \t]*$`)
	parameter = regexp.MustCompile(`^(\w+) ([\w \[\]]+)$`)
)

// parseFile returns the statements of a file, in its order, and adds its texts to those known.
func parseFile(file string, known texts) ([]*Statement, error) {
	var found []*Statement
	headings := heading.FindAllStringSubmatchIndex(file, -1)
	for i, at := range headings {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return file[at[2*n]:at[2*n+1]]
		}
		end := len(file)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		name, body := group(2), strings.TrimSuffix(strings.TrimSpace(file[at[1]:end]), ";")
		var err error
		if group(1) == "text" {
			err = known.add(name, words(group(3)), body)
		} else {
			var s *Statement
			s, err = parseStatement(name, words(group(3)), body, known)
			found = append(found, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return found, nil
}

func parseStatement(name string, fields []string, body string, known texts) (*Statement, error) {
	s := &Statement{Name: name}
	var names []string
	for _, field := range fields {
		pair := parameter.FindStringSubmatch(field)
		if pair == nil {
			return nil, fmt.Errorf("%q is no name and type", field)
		}
		if known[pair[1]] != nil {
			return nil, fmt.Errorf("%s is also a text", pair[1])
		}
		names, s.Types = append(names, pair[1]), append(s.Types, pair[2])
	}
	body, err := known.expand(body)
	if err != nil {
		return nil, err
	}
	s.Text, err = number(body, names)
	return s, err
}

// words splits a list at its commas.
func words(list string) []string {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	all := strings.Split(list, ",")
	for i, word := range all {
		all[i] = strings.TrimSpace(word)
	}
	return all
}

// token matches a parameter or a text with its words, or something else that may hold a colon: a comment, a quoted text or name, a cast.
// It begins with one of tokenStarts.
var token = regexp.MustCompile(`(?s)^(?:--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$|::|:([a-z_]\w*)(?:\(([\w, ]*)\))?)`)

const tokenStarts = `-/'"$:`

// replaceTokens replaces each token. Trying the expression only where one can begin saves a tenth of the start of every command.
func replaceTokens(text string, replace func(found string) string) string {
	var replaced strings.Builder
	for {
		start := strings.IndexAny(text, tokenStarts)
		if start < 0 {
			return replaced.String() + text
		}
		replaced.WriteString(text[:start])
		text = text[start:]
		if found := token.FindString(text); found != "" {
			replaced.WriteString(replace(found))
			text = text[len(found):]
		} else {
			replaced.WriteByte(text[0])
			text = text[1:]
		}
	}
}

// number puts $1, $2, … in place of the named parameters; comments are left out, so that they are not sent.
func number(text string, names []string) (string, error) {
	used := make([]bool, len(names))
	var unknown error
	text = replaceTokens(text, func(found string) string {
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
			unknown = fmt.Errorf("neither the heading nor a text before it is named %s", found)
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
