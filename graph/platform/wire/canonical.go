package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var canonical = json.JoinOptions(jsontext.CanonicalizeRawFloats(true), jsontext.ReorderRawObjects(true))

// Canonical returns data in one spelling per JSON value (RFC 8785), so that the hash of it tells whether two bodies
// are the same JSON (contract §12, orders): order of members, white space and escapes do not matter, and 1e2 is 100.
// Unlike RFC 8785, integers keep every digit, so that no two of them fall together beyond 2^53; numbers with a
// fraction or an exponent become what binary64 makes of them. What Check refuses is refused here too, as *Error.
func Canonical(data []byte) ([]byte, error) {
	b, err := jsontext.AppendFormat(nil, data, canonical)
	if err != nil {
		return nil, syntactic(err)
	}
	return b, nil
}
