// Package scalar encodes the GraphQL values without a JSON form: ids, times, 64-bit integers, bytes and cursors.
//
// Each has the same form as in REST (package wire), so an agent reads the same id, time or key either way. Input of another form
// is a fault: invalid_id for an id, invalid_pagination for a cursor, invalid_input for the rest. Every function is pure and safe
// for concurrent use.
package scalar

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// spelled writes v as REST does.
func spelled(v any) graphql.Marshaler {
	raw, err := wire.Marshal(v)
	if err != nil {
		return graphql.Null // a time beyond the year 9999: internal_error if the field is not nullable
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(raw) }) // gqlgen writes into memory
}

// wrong returns the fault of a value that does not have its scalar's form.
func wrong(code fault.Code, reason string) error {
	return fault.New(code).Say("The value " + reason + ".")
}

// parsed reads a scalar from a string. holds describes the expected content; code is the fault of anything else.
func parsed[Value any](sent any, code fault.Code, holds string, parse func(string) (Value, error)) (value Value, err error) {
	s, ok := sent.(string)
	if !ok {
		return value, wrong(code, "must be a string"+holds)
	}
	if value, err = parse(s); err != nil {
		err = wrong(code, err.Error())
	}
	return value, err
}

// MarshalUUID writes an id in lower case.
func MarshalUUID(id uuid.UUID) graphql.Marshaler { return spelled(id) }

// UnmarshalUUID reads an id in its canonical form, in either case; anything else is invalid_id.
func UnmarshalUUID(sent any) (uuid.UUID, error) {
	return parsed(sent, fault.InvalidID, " that holds a UUID", text.UUID)
}

// MarshalTime writes a time as RFC 3339 in UTC with microseconds.
func MarshalTime(t time.Time) graphql.Marshaler { return spelled(t) }

// UnmarshalTime reads an RFC 3339 time with its offset; anything else is invalid_input.
func UnmarshalTime(sent any) (time.Time, error) {
	return parsed(sent, fault.InvalidInput, " that holds an RFC 3339 time", text.Time)
}

// MarshalBase64 writes bytes as padded standard base64.
func MarshalBase64(b []byte) graphql.Marshaler { return spelled(b) }

// UnmarshalBase64 reads canonical padded standard base64; anything else is invalid_input.
func UnmarshalBase64(sent any) ([]byte, error) {
	return parsed(sent, fault.InvalidInput, " that holds base64", func(s string) ([]byte, error) { return text.Base64(s, 0, math.MaxInt32) })
}

// MarshalText writes a string.
func MarshalText(s string) graphql.Marshaler { return spelled(s) }

// UnmarshalText reads a string unchanged, for a method that checks its form; anything else is invalid_input.
func UnmarshalText(sent any) (string, error) {
	return parsed(sent, fault.InvalidInput, "", func(s string) (string, error) { return s, nil })
}

// MarshalInt64 writes a JSON number.
func MarshalInt64(n int64) graphql.Marshaler { return spelled(n) }

// UnmarshalInt64 reads a number without fraction or exponent; anything else, text included, is invalid_input.
func UnmarshalInt64(sent any) (int64, error) {
	if n, ok := sent.(int64); ok { // a literal
		return n, nil
	}
	number, _ := sent.(json.Number) // a variable
	n, err := number.Int64()
	if err != nil {
		return 0, wrong(fault.InvalidInput, "must be an integer of at most 64 bits without fraction or exponent")
	}
	return n, nil
}

// MarshalInt writes a JSON number.
func MarshalInt(n int) graphql.Marshaler { return spelled(n) }

// UnmarshalInt reads a number of 32 bits without fraction or exponent; anything else, text included, is invalid_input.
func UnmarshalInt(sent any) (int, error) {
	n, err := UnmarshalInt64(sent)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, wrong(fault.InvalidInput, "must be an integer of at most 32 bits without fraction or exponent")
	}
	return int(n), nil
}

// MarshalCursor writes the position of a row in a connection, opaque to the caller.
func MarshalCursor(c ent.Cursor) graphql.Marshaler { return c }

// UnmarshalCursor reads a cursor of MarshalCursor; anything else, also a text unfit for the database, is invalid_pagination.
func UnmarshalCursor(sent any) (ent.Cursor, error) {
	var c ent.Cursor
	err := c.UnmarshalGQL(sent)
	values, _ := c.Value.([]any)
	if err != nil || slices.ContainsFunc(values, func(v any) bool {
		s, ok := v.(string)
		return ok && (!utf8.ValidString(s) || strings.ContainsRune(s, 0))
	}) {
		return c, wrong(fault.InvalidPagination, "must be a cursor that this connection gave out")
	}
	return c, nil
}
