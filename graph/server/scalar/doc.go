// Package scalar encodes, for GraphQL, the values that JSON has no form for: ids, times, 64-bit integers, bytes and cursors.
//
// Each has the same form as in REST (package wire), so an agent reads the same id, time or key either way. Input that is not of
// the form comes back as a fault: invalid_id for an id, invalid_pagination for a cursor, invalid_input for the rest. Every
// function is pure and safe for concurrent use.
package scalar

import (
	"io"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// spelled writes v in the form of REST.
func spelled(v any) graphql.Marshaler {
	raw, err := wire.Marshal(v)
	if err != nil {
		return graphql.Null // a time beyond the year 9999: where the field is not nullable, this becomes internal_error
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(raw) }) // gqlgen writes into memory
}

// wrong is the fault of a value that is not of its scalar's form.
func wrong(code fault.Code, reason string) error {
	return fault.New(code).Say("The value " + reason + ".")
}
