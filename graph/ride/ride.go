// Package ride lets a query ride on the admission of its caller, so that a request that only reads costs one round trip instead of
// two.
//
// The transport knows which request comes; before it admits the caller it puts a ride into the context. Admission (graph/bots)
// sends both in one statement and notes whom it was sent for. The method that is called then finds the rows in its context, or
// queries by itself where there was no ride: from GraphQL, from tests, for a page that is too rare to ride. A ride is never needed
// and never decides anything, and a request that changes something has none.
//
// A context holds one ride, which belongs to one request; nothing here is safe for concurrent use but Query.
package ride

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// Query is what rides: it selects rows for the agent me.id.
type Query struct {
	text    string
	columns int
	once    sync.Once
	whole   string
}

// New returns the query of a text that selects so many columns; its arguments begin with $2.
func New(text string, columns int) *Query { return &Query{text: text, columns: columns} }

// Whole is the query within the statement that compose makes of it, once. Only admission calls it.
func (q *Query) Whole(compose func(text string, columns int) string) string {
	q.once.Do(func() { q.whole = compose(q.text, q.columns) })
	return q.whole
}

// Columns is how many it selects.
func (q *Query) Columns() int { return q.columns }

// Passenger is what the rows become.
type Passenger interface {
	// Next puts into row where the columns of the next row go. It is called once a row, always with what it has put there before.
	Next(row []any)
}

// Ride is one request's use of a query.
type Ride struct {
	*Query
	Passenger
	Args []any
	// Caller is whom the rows were read for, set by admission once it has read them all.
	Caller uuid.UUID
}

type contextKey struct{}

// With returns a context in which the query rides on the caller's admission.
func With(ctx context.Context, q *Query, p Passenger, args ...any) context.Context {
	return context.WithValue(ctx, contextKey{}, &Ride{Query: q, Passenger: p, Args: args})
}

// Of returns the ride of a context, nil for none.
func Of(ctx context.Context) *Ride {
	r, _ := ctx.Value(contextKey{}).(*Ride)
	return r
}

// Taken returns what the rows of a context's ride became, if that was a P and they were read for that caller.
func Taken[P Passenger](ctx context.Context, caller uuid.UUID) (p P, ok bool) {
	if r := Of(ctx); r != nil && r.Caller != uuid.Nil && r.Caller == caller {
		p, ok = r.Passenger.(P)
	}
	return p, ok
}
