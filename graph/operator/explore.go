package operator

import (
	"context"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"stoa/ent"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Sizes of a page of a connection, in rows.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// look is a checked request for a page of a connection.
type look struct {
	after, before *ent.Cursor
	first, last   *int
}

// newLook admits operators only and bounds the page: the first DefaultPage rows unless asked otherwise, MaxPage at most. It
// returns unauthorized or invalid_pagination.
func newLook(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int) (look, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return look{}, err
	}
	if first != nil && last != nil {
		return look{}, fault.Field(fault.InvalidPagination, "last", "cannot be combined with first")
	}
	for name, size := range map[string]*int{"first": first, "last": last} {
		if size != nil && (*size < 1 || *size > MaxPage) {
			return look{}, fault.Field(fault.InvalidPagination, name, "must be an integer from 1 to 100")
		}
	}
	if first == nil && last == nil {
		size := DefaultPage
		first = &size
	}
	return look{after, before, first, last}, nil
}

// paginate is the generated method of every entity's query.
type paginate[Option, Connection any] func(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, options ...Option) (Connection, error)

// page reads a page. A cursor that came from another order or another connection is invalid_pagination, and a text that the
// database cannot hold, a zero character, is invalid_input.
func page[Option, Connection any](ctx context.Context, l look, of paginate[Option, Connection], options ...Option) (Connection, error) {
	connection, err := of(ctx, l.after, l.first, l.before, l.last, options...)
	if err != nil && fault.From(err).Code == fault.InternalError {
		if pq.As(err, pqerror.CharacterNotInRepertoire) != nil {
			return connection, fault.Field(fault.InvalidInput, "where", "must not hold a zero character")
		}
		if l.after != nil || l.before != nil {
			err = fault.Wrap(fault.InvalidPagination, err)
		}
	}
	return connection, err
}

// filtered is a generated filter whose one complaint, a condition without content, is invalid_input.
func filtered[Query any](filter func(Query) (Query, error)) func(Query) (Query, error) {
	return func(query Query) (Query, error) {
		narrowed, err := filter(query)
		if err != nil {
			return narrowed, fault.Field(fault.InvalidInput, "where", "must not hold an empty condition below the first")
		}
		return narrowed, nil
	}
}
