package scalar

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"stoa/ent"
	"stoa/graph/platform/fault"
)

// MarshalCursor writes the place of a row in a connection, opaque to the caller.
func MarshalCursor(c ent.Cursor) graphql.Marshaler { return c }

// UnmarshalCursor reads what MarshalCursor wrote; anything else is invalid_pagination.
func UnmarshalCursor(sent any) (ent.Cursor, error) {
	var c ent.Cursor
	if err := c.UnmarshalGQL(sent); err != nil || !storable(c) {
		return c, wrong(fault.InvalidPagination, "must be a cursor that this connection gave out")
	}
	return c, nil
}

// storable reports whether the database could have held the texts of a cursor.
func storable(c ent.Cursor) bool {
	values, _ := c.Value.([]any)
	return !slices.ContainsFunc(values, func(v any) bool {
		s, ok := v.(string)
		return ok && (!utf8.ValidString(s) || strings.ContainsRune(s, 0))
	})
}
