// Package page computes the pages of lists: numbered pages and cursors (§1.5).
//
// Both read one row more than they show. The extra row shows that the list continues, so rows are never counted. Every function
// is pure and safe for concurrent use. The fault of a bad parameter names it.
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
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
// each given as all its values in the query. last is the highest page: Last, or 100,000 for the feed. Fault: invalid_pagination.
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

// Range bounds an integer. Absent is its value if it was not sent.
type Range struct{ Absent, Least, Most int64 }

// Integer reads the query parameter called name, given as all its values in the query: one decimal integer in a range. Repeated
// or empty parameters, signs, spaces and leading zeros are refused with the code.
func Integer(code fault.Code, name string, values []string, r Range) (int64, error) {
	switch len(values) {
	case 0:
		return r.Absent, nil
	case 1:
	default:
		return 0, fault.Field(code, name, "must be sent once")
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < r.Least || n > r.Most || strconv.FormatInt(n, 10) != values[0] {
		return 0, fault.Field(code, name, fmt.Sprintf("must be a decimal integer from %d to %d", r.Least, r.Most))
	}
	return n, nil
}

// Flag reads the query parameter called name, given as all its values in the query: true or false; absent if it was not sent. Its
// fault has the code.
func Flag(code fault.Code, name string, values []string, absent bool) (bool, error) {
	switch {
	case len(values) == 0:
		return absent, nil
	case len(values) == 1 && values[0] == "true":
		return true, nil
	case len(values) == 1 && values[0] == "false":
		return false, nil
	default:
		return false, fault.Field(code, name, "must be true or false, sent once, or left out")
	}
}

// Param is a query parameter as it was sent: all its values in the query, none if it was left out. In GraphQL it is a string or
// an integer.
type Param []string

// UnmarshalGQL implements graphql.Unmarshaler: the parameter has one value.
func (p *Param) UnmarshalGQL(sent any) error {
	switch sent := sent.(type) {
	case string:
		*p = Param{sent}
	case json.Number:
		*p = Param{sent.String()}
	case int64, int:
		*p = Param{fmt.Sprint(sent)}
	default:
		return errors.New("must be a string or an integer")
	}
	return nil
}

// First returns the first value, empty if the parameter was left out.
func (p Param) First() string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

// MarshalGQL implements graphql.Marshaler. It writes the first value; GraphQL has no others.
func (p Param) MarshalGQL(w io.Writer) {
	quoted, err := json.Marshal(p.First())
	if err == nil {
		_, err = w.Write(quoted)
	}
	if err != nil {
		panic(err) // gqlgen writes into memory
	}
}

// ID reads the query parameter called name, given as all its values in the query: one UUID, such as the `before` of a cursor list
// (§1.5). It returns nil if none was sent, and invalid_id for one that is repeated, empty or malformed.
func ID(name string, values []string) (*uuid.UUID, error) {
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, fault.Field(fault.InvalidID, name, "must be sent once")
	}
	id, err := text.UUID(values[0])
	if err != nil {
		return nil, fault.Field(fault.InvalidID, name, err.Error())
	}
	return &id, nil
}
