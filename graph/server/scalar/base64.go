package scalar

import (
	"math"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// MarshalBase64 writes bytes as padded standard base64.
func MarshalBase64(b []byte) graphql.Marshaler { return spelled(b) }

// UnmarshalBase64 reads canonical padded standard base64; anything else is invalid_input.
func UnmarshalBase64(sent any) ([]byte, error) {
	s, ok := sent.(string)
	if !ok {
		return nil, wrong(fault.InvalidInput, "must be a string that holds base64")
	}
	b, err := text.Base64(s, 0, math.MaxInt32)
	if err != nil {
		return nil, wrong(fault.InvalidInput, err.Error())
	}
	return b, nil
}
