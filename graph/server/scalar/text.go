package scalar

import (
	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
)

// MarshalText writes a string.
func MarshalText(s string) graphql.Marshaler { return spelled(s) }

// UnmarshalText reads a string as it was sent, for a method that judges its form; anything else is invalid_input.
func UnmarshalText(sent any) (string, error) {
	s, ok := sent.(string)
	if !ok {
		return "", wrong(fault.InvalidInput, "must be a string")
	}
	return s, nil
}
