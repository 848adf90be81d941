package wire

import (
	"encoding/base64"
	"errors"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

var errYear = errors.New("time outside the years 0000 to 9999")

var outgoing = json.JoinOptions(
	json.Deterministic(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(writeTime),
		json.MarshalToFunc(writeUUID),
		json.MarshalToFunc(writeBytes),
	)),
)

// Marshal returns v as JSON: times in UTC with microseconds (finer digits cut), ids as lower-case UUIDs, []byte as padded
// standard base64, nil pointers and nil []byte as null, other nil slices as [] and nil maps as {}, map keys sorted, no HTML
// escaping. An error means that JSON cannot represent v (invalid UTF-8, NaN, a year beyond 9999), never a sender's mistake.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, outgoing) }

// Write writes the result of Marshal to w, without a line break after it. It wraps an error of w; part of the JSON may already be
// written then.
func Write(w io.Writer, v any) error { return json.MarshalWrite(w, v, outgoing) }

// writeTime writes t as RFC 3339 in UTC with exactly six fractional digits.
func writeTime(enc *jsontext.Encoder, t time.Time) error {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return errYear
	}
	return enc.WriteValue(t.AppendFormat(enc.AvailableBuffer(), `"2006-01-02T15:04:05.000000Z"`))
}

func writeUUID(enc *jsontext.Encoder, id uuid.UUID) error {
	return enc.WriteToken(jsontext.String(id.String()))
}

func writeBytes(enc *jsontext.Encoder, raw []byte) error {
	if raw == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(append(base64.StdEncoding.AppendEncode(append(enc.AvailableBuffer(), '"'), raw), '"'))
}
