// Package relay holds the types that the generated code of connections needs: cursors, directions, and the condition that finds
// the rows behind a cursor. It replaces entgql, which generates that code: a program with entgql also contains the generators of
// ent and gqlgen. The names are the same as in entgql, because the generated code uses them; cmd/generate/ent sets the import.
//
// All of it is safe for concurrent use.
package relay

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"
	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// PageInfo reports whether a connection has rows before and after a page.
type PageInfo[T any] struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *Cursor[T]
	EndCursor       *Cursor[T]
}

// Cursor is the position of a row in a connection: its id, and a list of its values in the columns of the order.
type Cursor[T any] struct {
	ID    T   `json:"i"`
	Value any `json:"v,omitempty"`
}

// MarshalGQL writes the cursor as a text that only UnmarshalGQL reads.
func (c Cursor[T]) MarshalGQL(w io.Writer) {
	packed, err := json.Marshal(c)
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
	packed := json.NewDecoder(base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(text)))
	packed.UseNumber() // PostgreSQL reads numbers and times as texts
	if err := packed.Decode(c); err != nil {
		return fmt.Errorf("this is no cursor: %w", err)
	}
	return nil
}

// ErrNodeNotFound returns the error for an id that no row has.
func ErrNodeNotFound(id any) *gqlerror.Error {
	err := gqlerror.Errorf("There is no node with the id %v.", id)
	errcode.Set(err, "NOT_FOUND")
	return err
}

// Append joins two errors. It replaces go-multierror.
func Append(err, more error) error { return errors.Join(err, more) }

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

// MultiCursorsOptions holds the columns of a connection's order, each with its direction. The id breaks ties.
type MultiCursorsOptions struct {
	FieldID     string
	DirectionID OrderDirection
	Fields      []string
	Directions  []OrderDirection
}

// MultiCursorsPredicate returns the conditions of the rows behind each cursor that is not nil, in the order of the options: a
// caller that wants the rows before a cursor reverses the order. It fails for a cursor of another order.
func MultiCursorsPredicate[T any](after, before *Cursor[T], of *MultiCursorsOptions) (conditions []func(*sql.Selector), err error) {
	for _, c := range []*Cursor[T]{after, before} {
		if c == nil {
			continue
		}
		values, _ := c.Value.([]any)
		if len(values) != len(of.Fields) {
			return nil, fmt.Errorf("the cursor is of another order: it has %d values, not %d", len(values), len(of.Fields))
		}
		columns, directions := slices.Clip(of.Fields), slices.Clip(of.Directions)
		if !slices.Contains(columns, of.FieldID) {
			columns, directions, values = append(columns, of.FieldID), append(directions, of.DirectionID), append(slices.Clip(values), any(c.ID))
		}
		conditions = append(conditions, func(s *sql.Selector) { s.Where(behind(s, columns, directions, values)) })
	}
	return conditions, nil
}

// behind returns the condition for the rows behind the row with the given values in the columns of an order: the first column is
// behind its value, or it is equal and the other columns are behind.
func behind(s *sql.Selector, columns []string, directions []OrderDirection, values []any) *sql.Predicate {
	column, compare := s.C(columns[0]), sql.GT
	if directions[0] == OrderDirectionDesc {
		compare = sql.LT
	}
	if len(columns) == 1 {
		return compare(column, values[0])
	}
	others := behind(s, columns[1:], directions[1:], values[1:])
	return sql.Or(compare(column, values[0]), sql.And(sql.EQ(column, values[0]), others))
}
