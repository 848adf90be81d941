// Package search holds the parts that the searches of all domains share (§1.4, §4.2, §4.9). They find a text as a substring: case
// does not matter, and no character has a special meaning. Each domain's search is a statement in its .sql file, and all are
// built alike.
//
// A table that can be searched has a column folded, its searched text in lower case, and an index of the q-grams of that column
// (migrate/sql/0008_search.sql). A search has two ways to its rows. It walks the list in its order and looks at each text, until
// the page is full or a bound on the rows examined is reached; or it takes what the index finds, sorts it, and looks at those
// texts in the order of the list until the page is full. It looks at the first 64 rows of the list first: a text that none of
// them holds goes to the index at once. The walk's bound is 1,000 rows for a page at the top of a list, grows by two for each row
// up to the end of the page, and is 20,000 at most; a text that does not fill the page within it goes to the index, too. A row of
// 4 KB takes about 10 µs. Both ways give the same page.
//
// An index takes a text as an item of a list, and a job merges the list into the index every two seconds (Merge): texts that are
// merged together share most of their keys. A search reads the list as well, so it finds what was written a moment ago.
//
// The planner knows nothing about long texts, so the statement decides between the two ways while it runs. It reads no value at
// planning, and its plan can be kept.
package search

import (
	"errors"
	"strconv"
	"strings"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// maxQuery is the length of a search text in characters (§8).
const maxQuery = bounds.Search

var errOnce = errors.New("must be sent once")

// Text reads the search text called name: sent at most once, up to 160 characters, none that a stored text could not hold. What
// is wrong goes into wrong, for invalid_search. It is empty if nothing is searched for.
func Text(wrong fault.Fields, name string, sent page.Param) string {
	switch len(sent) {
	case 0:
		return ""
	case 1:
	default:
		wrong.Add(name, errOnce)
		return ""
	}
	kept, err := text.Multi(sent[0], 0, maxQuery)
	wrong.Add(name, err)
	return kept
}

// Handle reads the handle called name, sent at most once as a person or a model writes it (text.WrittenHandle). What is wrong goes into
// wrong, for invalid_search. It is nil if none was sent, and empty if no agent can have what was sent.
func Handle(wrong fault.Fields, name string, sent page.Param) *string {
	if len(sent) == 0 {
		return nil
	}
	handle := text.WrittenHandle(sent[0])
	if len(sent) > 1 {
		wrong.Add(name, errOnce)
	}
	return &handle
}

// Requested reports whether a parameter asks for a search: it is sent, and not just empty.
func Requested(sent page.Param) bool { return len(sent) > 1 || len(sent) == 1 && sent[0] != "" }

// Pages are the two forms of a search statement: one for the first page of the usual size, whose bounds stand in its text, so
// that PostgreSQL plans it once for all texts; and one for every other page, planned for its bounds at each call.
type Pages struct{ first, other *db.Statement }

// NewPages makes them of a statement that begins with prepared.PlanPerValue and whose last two parameters are the number of rows
// to skip and the number to read.
func NewPages(s *db.Statement) Pages {
	n := len(s.Types)
	first := strings.NewReplacer(
		"$"+strconv.Itoa(n-1), "0", "$"+strconv.Itoa(n), strconv.Itoa(page.DefaultSize+1), prepared.PlanPerValue, "",
	).Replace(s.Text)
	return Pages{first: &db.Statement{Name: s.Name + "_first", Types: s.Types[:n-2], Text: first}, other: s}
}

// For returns the statement of a page and its arguments: args and, where it has them, the bounds of the page.
func (p Pages) For(n page.Number, args ...any) (*db.Statement, []any) {
	if n.Offset() == 0 && n.Limit() == page.DefaultSize+1 {
		return p.first, args
	}
	return p.other, append(args, n.Offset(), n.Limit())
}
