package relay

import (
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"
)

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
