package scalar

import (
	"encoding/json"
	"math"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
)

// MarshalInt64 writes a JSON number.
func MarshalInt64(n int64) graphql.Marshaler { return spelled(n) }

// UnmarshalInt64 reads a number without fraction or exponent; anything else, text included, is invalid_input.
func UnmarshalInt64(sent any) (int64, error) {
	const reason = "must be an integer of at most 64 bits without fraction or exponent"
	switch sent := sent.(type) {
	case int64: // a literal
		return sent, nil
	case json.Number: // a variable
		n, err := sent.Int64()
		if err != nil {
			return 0, wrong(fault.InvalidInput, reason)
		}
		return n, nil
	default:
		return 0, wrong(fault.InvalidInput, reason)
	}
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
