package scalar

import (
	"time"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// MarshalTime writes a time as RFC 3339 in UTC with microseconds.
func MarshalTime(t time.Time) graphql.Marshaler { return spelled(t) }

// UnmarshalTime reads an RFC 3339 time with its offset; anything else is invalid_input.
func UnmarshalTime(sent any) (time.Time, error) {
	s, ok := sent.(string)
	if !ok {
		return time.Time{}, wrong(fault.InvalidInput, "must be a string that holds an RFC 3339 time")
	}
	t, err := text.Time(s)
	if err != nil {
		return time.Time{}, wrong(fault.InvalidInput, err.Error())
	}
	return t, nil
}
