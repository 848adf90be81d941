// Package page computes the pages of lists: numbered pages and cursors (§1.5).
//
// Both read one row more than they show. The extra row shows that the list continues, so rows are never counted. Every function
// is pure and safe for concurrent use. The fault of a bad parameter names it.
package page

import (
	"math"

	"stoa/graph/platform/fault"
)

// Sizes of a numbered page, in rows (§1.5), and the number of the highest page of most lists (§8).
const (
	DefaultSize = 20
	MaxSize     = 50
	Last        = 1000
)

// Number is a checked page of a numbered list.
type Number struct {
	page, size, last int
}

// Parse reads the query parameters `page` (1 to last, 1 unless sent) and `page_size` (1 to MaxSize, DefaultSize unless sent),
// each given as all its values in the query. last is the highest page: Last, or 100,000 of the feed. Fault: invalid_pagination.
func Parse(page, pageSize []string, last int) (Number, error) {
	p, err := Integer(fault.InvalidPagination, "page", page, Range{1, 1, int64(last)})
	if err != nil {
		return Number{}, err
	}
	s, err := Integer(fault.InvalidPagination, "page_size", pageSize, Range{DefaultSize, 1, MaxSize})
	if err != nil {
		return Number{}, err
	}
	return Number{page: int(p), size: int(s), last: last}, nil
}

// Offset returns the number of rows before the page.
func (n Number) Offset() int { return (n.page - 1) * n.size }

// Limit returns the number of rows to read: the page, and one row to find out whether another page follows.
func (n Number) Limit() int { return n.size + 1 }

// Meta holds the fields of a list besides its rows; embed it in the list's card.
type Meta struct {
	Page     int  `json:"page"`
	PageSize int  `json:"page_size"`
	NextPage *int `json:"next_page"` // null on the last page, and on the highest allowed one
}

// Cut drops the extra row of up to Limit rows read at Offset, and sets NextPage if a page follows.
func Cut[T any](n Number, rows []T) ([]T, Meta) {
	m := Meta{Page: n.page, PageSize: n.size}
	if len(rows) <= n.size {
		return rows, m
	}
	if next := n.page + 1; next <= n.last {
		m.NextPage = &next
	}
	return rows[:n.size:n.size], m
}

// Sizes of a cursor list, in rows (§1.5, §4).
const (
	CursorSize          = 100 // contacts, messages, feedback, responses
	HistoryDefaultLimit = 50  // wallet history, unless `limit` is sent
	HistoryMaxLimit     = 100
)

// History is a checked part of the wallet's history (§4.6).
type History struct {
	Before int64 // entries with a smaller id; math.MaxInt64, above every id, if none was sent
	Limit  int   // entries to show; read one more and give it to Older
}

// Cursor reads the query parameters of the wallet's history, each given as all its values in the query: `before` (1 to
// 9223372036854775807) and `limit` (1 to HistoryMaxLimit, HistoryDefaultLimit unless sent). Fault: invalid_input.
func Cursor(before, limit []string) (History, error) {
	b, err := Integer(fault.InvalidInput, "before", before, Range{math.MaxInt64, 1, math.MaxInt64})
	if err != nil {
		return History{}, err
	}
	l, err := Integer(fault.InvalidInput, "limit", limit, Range{HistoryDefaultLimit, 1, HistoryMaxLimit})
	if err != nil {
		return History{}, err
	}
	return History{Before: b, Limit: int(l)}, nil
}

// Older drops the extra row of up to size+1 rows, newest first, and returns the list's `next_before`: the id of the
// last row shown, nil if the list ends with it.
func Older[T, ID any](rows []T, size int, id func(T) ID) ([]T, *ID) {
	if len(rows) <= size {
		return rows, nil
	}
	next := id(rows[size-1])
	return rows[:size:size], &next
}

// Map converts each row of a list to a value, such as a card. The result is never nil.
func Map[Row, Value any](rows []Row, of func(Row) Value) []Value {
	made := make([]Value, len(rows))
	for i, r := range rows {
		made[i] = of(r)
	}
	return made
}
