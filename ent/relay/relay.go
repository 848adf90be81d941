// Package relay holds the types that the generated code of connections needs: cursors, directions, and the condition that finds
// the rows behind a cursor. It takes the place of entgql, which generates that code: a program that imports entgql has ent's and
// gqlgen's generators in it. Names are entgql's, since the generated code names them; ent/entc sets the import.
//
// All of it is safe for concurrent use.
package relay

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"
	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vmihailenco/msgpack/v5"
)

// PageInfo says whether a connection goes on before and behind a page.
type PageInfo[T any] struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *Cursor[T]
	EndCursor       *Cursor[T]
}

// Cursor is the place of a row in a connection: its id, and as a list the values that the rows are ordered by.
type Cursor[T any] struct {
	ID    T   `msgpack:"i"`
	Value any `msgpack:"v,omitempty"`
}

// MarshalGQL writes the cursor as a text that only UnmarshalGQL reads.
func (c Cursor[T]) MarshalGQL(w io.Writer) {
	packed, err := msgpack.Marshal(c)
	if err != nil {
		panic(err) // the values are columns of ent's types
	}
	graphql.MarshalString(base64.RawStdEncoding.EncodeToString(packed)).MarshalGQL(w)
}

// UnmarshalGQL reads a cursor that MarshalGQL wrote. A client may have forged it.
func (c *Cursor[T]) UnmarshalGQL(sent any) error {
	text, ok := sent.(string)
	if !ok {
		return fmt.Errorf("a cursor is a string, not %T", sent)
	}
	packed := base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(text))
	if err := msgpack.NewDecoder(packed).Decode(c); err != nil {
		return fmt.Errorf("this is no cursor: %w", err)
	}
	return nil
}

// ErrNodeNotFound is the error of a query for the node of an id that no row has.
func ErrNodeNotFound(id any) *gqlerror.Error {
	err := gqlerror.Errorf("There is no node with the id %v.", id)
	errcode.Set(err, "NOT_FOUND")
	return err
}

// OrderDirection is the direction in which a list is ordered by a column.
type OrderDirection string

// The two directions.
const (
	OrderDirectionAsc  OrderDirection = "ASC"
	OrderDirectionDesc OrderDirection = "DESC"
)

// Validate refuses everything but the two directions.
func (d OrderDirection) Validate() error {
	if d != OrderDirectionAsc && d != OrderDirectionDesc {
		return fmt.Errorf("%q is no direction: ASC or DESC", string(d))
	}
	return nil
}

// String is the direction in SQL and in GraphQL.
func (d OrderDirection) String() string { return string(d) }

// Reverse is the other direction.
func (d OrderDirection) Reverse() OrderDirection {
	if d == OrderDirectionDesc {
		return OrderDirectionAsc
	}
	return OrderDirectionDesc
}

// OrderTermOption is the direction for ent's terms.
func (d OrderDirection) OrderTermOption() sql.OrderTermOption {
	if d == OrderDirectionDesc {
		return sql.OrderDesc()
	}
	return sql.OrderAsc()
}

// MarshalGQL writes the direction.
func (d OrderDirection) MarshalGQL(w io.Writer) { graphql.MarshalString(string(d)).MarshalGQL(w) }

// UnmarshalGQL reads a direction.
func (d *OrderDirection) UnmarshalGQL(sent any) error {
	text, ok := sent.(string)
	if !ok {
		return fmt.Errorf("a direction is ASC or DESC, not %T", sent)
	}
	*d = OrderDirection(text)
	return d.Validate()
}

// MultiCursorsOptions are the columns that a connection is ordered by, each with its direction. The id breaks ties.
type MultiCursorsOptions struct {
	FieldID     string
	DirectionID OrderDirection
	Fields      []string
	Directions  []OrderDirection
}

// MultiCursorsPredicate returns the conditions of the rows behind each cursor that is not nil, in the order of the options: a caller
// that wants the rows before a cursor reverses the order. It fails for a cursor of another order.
func MultiCursorsPredicate[T any](after, before *Cursor[T], of *MultiCursorsOptions) (conditions []func(*sql.Selector), err error) {
	for _, c := range []*Cursor[T]{after, before} {
		if c == nil {
			continue
		}
		values, _ := c.Value.([]any)
		if len(values) != len(of.Fields) {
			return nil, fmt.Errorf("the cursor is of another order: it has %d values, not %d", len(values), len(of.Fields))
		}
		order := place{slices.Clone(of.Fields), slices.Clone(of.Directions), slices.Clone(values)}
		if !slices.Contains(of.Fields, of.FieldID) {
			order = place{append(order.columns, of.FieldID), append(order.directions, of.DirectionID), append(order.values, any(c.ID))}
		}
		conditions = append(conditions, func(s *sql.Selector) { s.Where(order.behind(s)) })
	}
	return conditions, nil
}

// place is the values that a row has in the columns of an order.
type place struct {
	columns    []string
	directions []OrderDirection
	values     []any
}

// behind is the condition of the rows behind a place: the first column is behind its value, or has it and the others are behind.
func (p place) behind(s *sql.Selector) *sql.Predicate {
	column, value, compare := s.C(p.columns[0]), p.values[0], sql.GT
	if p.directions[0] == OrderDirectionDesc {
		compare = sql.LT
	}
	if len(p.columns) == 1 {
		return compare(column, value)
	}
	others := place{p.columns[1:], p.directions[1:], p.values[1:]}
	return sql.Or(compare(column, value), sql.And(sql.EQ(column, value), others.behind(s)))
}
