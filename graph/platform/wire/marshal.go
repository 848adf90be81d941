package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
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

// Marshal returns v as JSON: times in UTC with microseconds (finer digits cut), ids as lower-case UUIDs, []byte as
// padded standard base64, nil pointers and nil []byte as null, other nil slices as [] and nil maps as {}, map keys sorted,
// nothing escaped for HTML. An error means v holds what JSON cannot say (invalid UTF-8, NaN, a year beyond 9999), never a sender's
// mistake.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, outgoing) }

// Write writes to w what Marshal returns, without a line break after it. An error of w comes back wrapped; part of
// the JSON may have been written by then.
func Write(w io.Writer, v any) error {
	card, ok := v.(Appender)
	if !ok {
		return json.MarshalWrite(w, v, outgoing)
	}
	var room []byte
	if buffer, ok := w.(*bytes.Buffer); ok {
		room = buffer.AvailableBuffer()
	}
	raw, err := card.AppendJSON(room)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

func writeTime(enc *jsontext.Encoder, t time.Time) error {
	b, err := appendTime(enc.AvailableBuffer(), t)
	if err != nil {
		return err
	}
	return enc.WriteValue(b)
}

// appendTime appends t as RFC 3339 in UTC with exactly six fractional digits.
func appendTime(b []byte, t time.Time) ([]byte, error) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return b, errYear
	}
	b = t.AppendFormat(append(b, '"'), time.RFC3339)
	point := len(b) - len("Z")
	// A second in microseconds more keeps the zeros in front; the point takes the place of its digit.
	b = strconv.AppendInt(b[:point], int64(time.Second+time.Duration(t.Nanosecond()))/int64(time.Microsecond), 10)
	b[point] = '.'
	return append(b, 'Z', '"'), nil
}

func writeUUID(enc *jsontext.Encoder, id uuid.UUID) error {
	return enc.WriteValue(appendUUID(enc.AvailableBuffer(), id))
}

func appendUUID(b []byte, id uuid.UUID) []byte {
	b = append(b, '"')
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	return append(hex.AppendEncode(b, id[10:]), '"')
}

func writeBytes(enc *jsontext.Encoder, raw []byte) error {
	if raw == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(appendBytes(enc.AvailableBuffer(), raw))
}
