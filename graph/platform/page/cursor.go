package page

import (
	"math"

	"stoa/graph/platform/fault"
)

// Sizes of a cursor list, in rows (§1.5, §4).
const (
	CursorSize          = 100 // contacts, messages, feedback, responses
	HistoryDefaultLimit = 50  // wallet history, unless `limit` is sent
	HistoryMaxLimit     = 100
)

// History is a checked part of the wallet's history (§4.6).
type History struct {
	Before int64 // entries with a smaller id; math.MaxInt64, above every id, where none was sent
	Limit  int   // entries to show; read one more and give it to Older
}

// Cursor reads the query parameters of the wallet's history, each given as all its values in the query: `before` (1 to
// 9223372036854775807) and `limit` (1 to HistoryMaxLimit, HistoryDefaultLimit unless sent). Its fault is invalid_input.
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
