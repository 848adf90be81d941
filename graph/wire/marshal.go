package wire

import (
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// timeLayout is RFC 3339 in UTC with exactly six fractional digits.
const timeLayout = `"2006-01-02T15:04:05.000000Z"`

var errYear = errors.New("time outside the years 0000 to 9999")

var outgoing = json.JoinOptions(
	json.Deterministic(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(writeTime),
		json.MarshalToFunc(writeUUID),
	)),
)

// Marshal returns v as JSON: times in UTC with microseconds (finer digits cut), ids as lower-case UUIDs, []byte as
// padded standard base64, nil pointers as null, nil slices as [] and nil maps as {}, map keys sorted, nothing escaped
// for HTML. An error means v holds what JSON cannot say (invalid UTF-8, NaN, a year beyond 9999), never a sender's
// mistake.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, outgoing) }

// Write writes to w what Marshal returns, without a line break after it. An error of w comes back wrapped; part of
// the JSON may have been written by then.
func Write(w io.Writer, v any) error { return json.MarshalWrite(w, v, outgoing) }

func writeTime(enc *jsontext.Encoder, t time.Time) error {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return errYear
	}
	return enc.WriteValue(t.AppendFormat(enc.AvailableBuffer(), timeLayout))
}

func writeUUID(enc *jsontext.Encoder, id uuid.UUID) error {
	b := append(enc.AvailableBuffer(), '"')
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	b = append(hex.AppendEncode(b, id[10:]), '"')
	return enc.WriteValue(b)
}
