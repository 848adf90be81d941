// Package search is the common part of the searches of all domains (§1.4, §4.2, §4.9). A search finds a text as a substring: case
// does not matter, and no character has a special meaning. Each domain has its search statements in its .sql file; all have the
// same structure.
//
// A searchable table has a column folded: its searched text as stoa_fold returns it, with the full case folding of Unicode and in
// normal form C. A trigger maintains it, and an index holds the trigrams of its words (pg_trgm). A search has two ways to find
// its page. It walks the list in order and checks each text, until the page is full or a bound on the rows is reached. Or it asks
// the index, checks all texts that have the trigrams, and sorts the matches. It first checks the first 64 rows of the list: if
// none of them matches, it asks the index at once. The walk's bound is 1,000 rows for a page at the top of a list, grows by two
// for each row up to the end of the page, and is 20,000 at most. If the walk does not fill the page, the search asks the index,
// too. A row of 4 KB takes about 10 µs. Both ways return the same page.
//
// The index cannot find a text without three letters or digits in a row: such a search walks to the end of the list. A timeout
// (readpool.StatementTimeout) bounds this case, and the case of a rare text with common trigrams.
//
// The planner has no statistics about long texts, so the two ways are two statements. Planning does not read their values, and
// the plans of the usual page are kept.
package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// maxQuery is the maximum length of a search text in characters (§8).
const maxQuery = bounds.Search

var errOnce = errors.New("must be sent once")

// Text reads the search text called name: sent at most once, up to 160 characters, only characters that a stored text may hold.
// It adds errors to wrong, for invalid_search. It returns "" if there is nothing to search for.
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

// Handle reads the handle called name, sent at most once as a person or a model writes it (text.WrittenHandle). It adds errors to
// wrong, for invalid_search. It returns nil if none was sent, and "" if no agent can have the handle.
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

// Requested reports whether a parameter asks for a search: it was sent and is not just empty.
func Requested(sent page.Param) bool { return len(sent) > 1 || len(sent) == 1 && sent[0] != "" }

const (
	probe       = 64
	leastWalk   = 1000
	longestWalk = 20_000
	wholeList   = math.MaxInt32
	indexable   = 3 // letters and digits in a row
)

// Ways holds the statements of the two ways to find a page.
type Ways struct{ probe, walk, first, find *db.Statement }

// NewWays makes Ways from the statements walk_<name> and find_<name>. Both begin with db.PlanPerValue. Their last parameters are
// the numbers of rows to skip and to read; in walk, the number of rows to walk precedes them. For the first page of the usual
// size these numbers are part of the text, so that PostgreSQL plans it once for all search texts.
func NewWays(all db.Statements, name string) Ways {
	walk, find := all.Named("walk_"+name), all.Named("find_"+name)
	return Ways{
		walk: walk, probe: fixed(walk, probe, 0, page.DefaultSize+1),
		find: find, first: fixed(find, 0, page.DefaultSize+1),
	}
}

// fixed returns a statement with values in place of its last parameters.
func fixed(s *db.Statement, values ...int) *db.Statement {
	n := len(s.Types) - len(values)
	changed := []string{db.PlanPerValue, ""}
	for i, value := range values {
		changed = append(changed, "$"+strconv.Itoa(n+i+1), strconv.Itoa(value))
	}
	return &db.Statement{Name: s.Name + "_first", Types: s.Types[:n], Text: strings.NewReplacer(changed...).Replace(s.Text)}
}

// All returns limit rows of a search as T, after the first skip rows. args are the arguments of both statements without the
// numbers of rows; needle is the argument that the index searches.
func All[T any](ctx context.Context, on db.Querier, w Ways, skip, limit int, needle string, args ...any) ([]*T, error) {
	bounds := []int{probe, min(leastWalk+2*(skip+limit), longestWalk), wholeList}
	if skip > 0 {
		bounds = bounds[1:]
	}
	if hasTrigram(needle) {
		bounds = bounds[:len(bounds)-1]
	}
	usual := skip == 0 && limit == page.DefaultSize+1
	for _, bound := range bounds {
		statement, with := w.walk, append(slices.Clone(args), bound, skip, limit)
		if usual && bound == probe {
			statement, with = w.probe, args
		}
		rows, err := db.All[T](ctx, on, statement, with...)
		if err != nil || len(rows) == limit || bound == wholeList {
			return rows, err
		}
		if bound == probe && len(rows) == 0 && hasTrigram(needle) {
			break
		}
	}
	if usual {
		return db.All[T](ctx, on, w.first, args...)
	}
	return db.All[T](ctx, on, w.find, append(slices.Clone(args), skip, limit)...)
}

// hasTrigram reports whether the index can answer a search.
func hasTrigram(q string) bool {
	row := 0
	for _, r := range q {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			row = 0
		} else if row++; row == indexable {
			return true
		}
	}
	return false
}
