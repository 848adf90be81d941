package db

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Statement is one SQL statement of a domain's .sql files.
type Statement struct {
	// Name is its name in the file.
	Name string
	// Types holds the types of the parameters in the order of the arguments.
	Types []string
	// Text has $1, $2, … in place of the named parameters.
	Text string
}

// Statements holds the statements of one domain's .sql files by name.
//
// A file holds any number of statements and texts. Each begins with a line that names it. The line of a statement also lists its
// parameters with their types; the line of a text lists the words that an include replaces:
//
//	-- text: brief(b, author)
//	b.id AS "author.id", b.handle AS "author.handle"
//
//	-- name: list_orders(caller uuid, max integer)
//	SELECT o.id, :brief(c, customer) FROM … WHERE agent_id = :caller …
//
// A parameter is written :name, as in psql, so that after
//
//	\set caller '''0190…'''
//
// a statement can be pasted into psql unchanged. Arguments are passed in the order of the heading.
//
// A text is a piece of SQL that several statements share, such as the columns of a card. A statement or a later text includes it
// like a parameter, and passes a replacement for each word of the heading, for all its occurrences.
//
// A comment PlanPerValue at the beginning of a statement is kept; other comments are not sent.
type Statements map[string]*Statement

// PlanPerValue at the beginning of a statement makes PostgreSQL plan it again at every call. Use it if the best plan depends on
// the values, as in a substring search.
const PlanPerValue = "/* plan per value */"

var (
	// loaded are all statements of the program, for the test that prepares them.
	loaded struct {
		sync.Mutex

		all []*Statement
	}
	// namedTexts holds their texts.
	namedTexts sync.Map
)

// Loaded returns every statement that was loaded.
func Loaded() []*Statement {
	loaded.Lock()
	defer loaded.Unlock()
	return slices.Clone(loaded.all)
}

// Load reads the .sql files at the top of a file system, at the start of the program. Its statements may also include the texts
// of shared, which may hold nothing but texts, such as .sql files of another domain. It panics if a heading, a parameter or a
// name is wrong, or if a text is not used.
func Load(files fs.FS, shared ...fs.FS) Statements {
	loaded.Lock() // tests may load concurrently
	defer loaded.Unlock()
	all, known := make(Statements), make(map[string]*sharedText)
	for _, from := range shared {
		for _, p := range read(from) {
			checkf(p.isText, "the statement %q stands among shared texts", p.name)
			p.share(known)
		}
	}
	for _, p := range read(files) {
		if p.isText {
			p.share(known)
			continue
		}
		checkf(all[p.name] == nil, "there are two statements %q", p.name)
		s := p.statement(known)
		all[p.name], loaded.all = s, append(loaded.all, s)
		namedTexts.Store(s.Text, true)
	}
	checkf(len(all) > 0, "no line `-- name: …(…)`")
	for name, text := range known {
		checkf(text.used, "no statement includes the text %q", name)
	}
	return all
}

// Named returns a statement. It panics if the name is unknown; a test of package graph compares the names with the files.
func (all Statements) Named(name string) *Statement {
	s := all[name]
	if s == nil {
		panic("db: there is no statement " + name)
	}
	return s
}

func checkf(holds bool, format string, args ...any) {
	if !holds {
		panic("db: " + fmt.Sprintf(format, args...))
	}
}

// part is a statement or a text as it stands in its file.
type part struct {
	isText bool
	name   string
	words  []string
	body   string
}

var (
	heading   = regexp.MustCompile(`^-- (name|text): (\w+)(?:\(([^)]*)\))?\s*$`)
	parameter = regexp.MustCompile(`^(\w+) ([\w \[\]]+)$`)
	word      = regexp.MustCompile(`\w+`)
)

// read returns the parts of all files, in their order.
func read(files fs.FS) (parts []part) {
	paths, err := fs.Glob(files, "*.sql")
	checkf(err == nil && len(paths) > 0, "no .sql files: %v", err)
	for _, path := range paths {
		raw, err := fs.ReadFile(files, path)
		checkf(err == nil, "%v", err)
		first := len(parts)
		for line := range strings.Lines(string(raw)) {
			if found := heading.FindStringSubmatch(line); found != nil {
				parts = append(parts, part{found[1] == "text", found[2], list(found[3]), ""})
			} else if len(parts) > first { // lines before the first heading are ignored
				parts[len(parts)-1].body += line
			}
		}
	}
	for i := range parts {
		parts[i].body = strings.TrimSuffix(strings.TrimSpace(parts[i].body), ";")
	}
	return parts
}

// list splits a list at its commas.
func list(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	all := strings.Split(text, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

type sharedText struct {
	words []string
	body  string
	used  bool
}

// share adds a text to the known texts.
func (p part) share(known map[string]*sharedText) {
	checkf(known[p.name] == nil, "there are two texts %q", p.name)
	body := replaceTokens(p.body, func(found string) string {
		if strings.HasPrefix(found, "--") {
			return ""
		}
		return found
	})
	known[p.name] = &sharedText{words: p.words, body: strings.TrimSpace(p.expand(body, known))}
}

// expand replaces includes with their texts.
func (p part) expand(body string, known map[string]*sharedText) string {
	return replaceTokens(body, func(found string) string {
		include := token.FindStringSubmatch(found)
		text, passed := known[include[1]], list(include[2])
		if text == nil {
			return found
		}
		text.used = true
		checkf(len(passed) == len(text.words), "%s: %s: the text has the words %q", p.name, found, text.words)
		return word.ReplaceAllStringFunc(text.body, func(found string) string {
			if i := slices.Index(text.words, found); i >= 0 {
				return passed[i]
			}
			return found
		})
	})
}

// statement includes the texts, replaces the named parameters with $1, $2, …, and removes comments.
func (p part) statement(known map[string]*sharedText) *Statement {
	s := &Statement{Name: p.name}
	var names []string
	for _, field := range p.words {
		pair := parameter.FindStringSubmatch(field)
		checkf(pair != nil, "%s: %q is no name and type", p.name, field)
		checkf(known[pair[1]] == nil, "%s: %s is also a text", p.name, pair[1])
		names, s.Types = append(names, pair[1]), append(s.Types, pair[2])
	}
	used := make([]bool, len(names))
	s.Text = strings.TrimSpace(replaceTokens(p.expand(p.body, known), func(found string) string {
		switch {
		case found == PlanPerValue:
			return found
		case strings.HasPrefix(found, "--"), strings.HasPrefix(found, "/*"):
			return ""
		case found[0] != ':' || found == "::":
			return found
		}
		i := slices.Index(names, found[1:])
		checkf(i >= 0, "%s: neither the heading nor a text before it is named %s", p.name, found)
		used[i] = true
		return "$" + strconv.Itoa(i+1)
	}))
	checkf(!slices.Contains(used, false), "%s: a parameter is not used", p.name)
	return s
}

// token matches a parameter, an include with its words, or other SQL that may hold a colon: a comment, a quoted text or name, a
// cast. It begins with one of tokenStarts.
var token = regexp.MustCompile(`(?s)^(?:--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$|::|:([a-z_]\w*)(?:\(([\w, ]*)\))?)`)

const tokenStarts = `-/'"$:`

// replaceTokens replaces each token. It tries the expression only at tokenStarts: this saves a tenth of a command's start-up.
func replaceTokens(text string, replace func(found string) string) string {
	var replaced strings.Builder
	for {
		start := strings.IndexAny(text, tokenStarts)
		if start < 0 {
			return replaced.String() + text
		}
		replaced.WriteString(text[:start])
		text = text[start:]
		found := token.FindString(text)
		if found == "" {
			replaced.WriteByte(text[0])
			text = text[1:]
			continue
		}
		replaced.WriteString(replace(found))
		text = text[len(found):]
	}
}
