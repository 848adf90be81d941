// Package wire converts between Go values and JSON (§1.3).
//
// Outgoing JSON is deterministic: equal values give equal bytes. Incoming JSON is strict: one UTF-8 object, every member known,
// named once and of the right type, nothing after it. Package text has the rules for texts. Inputs have a pointer for each field,
// and the domains check which fields are required.
//
// Every function is pure and safe for concurrent use. A sender's mistake is an *Error; any other error is a defect of this
// program.
package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Raw is one JSON value as it was sent, of any type, null included; its syntax has been checked. A map of Raw reads a body whose
// members are not known beforehand.
type Raw = jsontext.Value

// RawObject is one JSON object that is sent unchanged.
type RawObject []byte

func (o RawObject) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(jsontext.Value(o))
}

func (o RawObject) MarshalGQL(w io.Writer) {
	if _, err := w.Write(o); err != nil {
		panic(err) // gqlgen writes into memory, and recovers
	}
}

// UnmarshalGQL implements graphql.Unmarshaler: it refuses every input.
func (o *RawObject) UnmarshalGQL(any) error { return errors.New("an object cannot be sent here") }

// Nullable is an input field that is left out, null or a value: null unbinds an image (§2.1). Tag it omitzero if the input is
// also marshalled.
type Nullable[T any] struct {
	Set   bool // present, as null or as a value
	Null  bool // present as null
	Value T    // the zero value if Null or not Set
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom, for a field that is present.
func (n *Nullable[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = Nullable[T]{Set: true, Null: dec.PeekKind() == 'n'}
	if n.Null {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &n.Value)
}

func (n Nullable[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Set || n.Null {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, &n.Value)
}

// Text returns the string in raw; ok is false if raw has another type.
func Text(raw Raw) (s string, ok bool) {
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// UnmarshalGQL implements graphql.Unmarshaler, for a field that is present. A value that is not a T is an *Error of Kind Type.
func (n *Nullable[T]) UnmarshalGQL(sent any) error {
	if number, isNumber := sent.(interface{ Int64() (int64, error) }); isNumber { // a variable
		if n, err := number.Int64(); err == nil {
			sent = n
		}
	}
	value, ok := sent.(T)
	if sent != nil && !ok {
		return &Error{Kind: Type, Reason: fmt.Sprintf("the value must be a %T or null", value)}
	}
	*n = Nullable[T]{Set: true, Null: sent == nil, Value: value}
	return nil
}

func (n Nullable[T]) MarshalGQL(w io.Writer) {
	if err := Write(w, n); err != nil {
		panic(err) // gqlgen writes into memory, and recovers
	}
}

// Action is a next request that a card offers its reader; it was permitted when the card was read (§2.1).
type Action struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	// Path is absolute on the current origin, under /api/v1.
	Path string `json:"path"`
	// Body holds the fields that the server already knows; null marks fields that the caller must supply.
	Body map[string]any `json:"body"`
}

// Repeat is embedded in the result of an idempotent operation: Repeated reports whether it is the result of an earlier, identical
// request, which REST answers with 200 instead of 201 (§1.7).
type Repeat struct {
	Repeated bool `json:"-"`
}

// IsRepeat returns Repeated, for a transport that does not know the type of the result.
func (r Repeat) IsRepeat() bool { return r.Repeated }

// Replay is the Repeat of an operation with an id chosen by the client: a repeat returns the stored answer of that id, which may
// be out of date. REST marks it with Idempotent-Replayed (§1.7).
type Replay struct{ Repeat }

// Replayed returns the Replay of a stored answer.
func Replayed() Replay { return Replay{Repeat{Repeated: true}} }

// IsReplay reports whether the result is a stored answer, for a transport that does not know its type.
func (r Replay) IsReplay() bool { return r.Repeated }

var errYear = errors.New("time outside the years 0000 to 9999")

var outgoing = json.JoinOptions(
	json.Deterministic(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(writeTime),
		json.MarshalToFunc(writeID),
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
	// Go has fast code for the layout RFC3339 alone.
	b := t.AppendFormat(append(enc.AvailableBuffer(), '"'), time.RFC3339)
	point := len(b) - len("Z")
	b = strconv.AppendInt(b[:point], int64(1e6+t.Nanosecond()/1e3), 10) // a 1 before six digits
	b[point] = '.'                                                      // instead of the 1
	return enc.WriteValue(append(b, 'Z', '"'))
}

// writeID does what the library does by itself, without an allocation.
func writeID(enc *jsontext.Encoder, id uuid.UUID) error {
	text, _ := id.MarshalText() // it never fails
	return enc.WriteValue(append(append(append(enc.AvailableBuffer(), '"'), text...), '"'))
}

func writeBytes(enc *jsontext.Encoder, raw []byte) error {
	if raw == nil {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(append(base64.StdEncoding.AppendEncode(append(enc.AvailableBuffer(), '"'), raw), '"'))
}

var (
	incoming = json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)),
	)
	bom = []byte("\xef\xbb\xbf")
)

// Unmarshal reads one JSON object from data into the struct or map that into points to (§1.3). Member names match
// case-sensitively; integers have neither fraction nor exponent; null is refused except for Nullable, Raw and any. A pointer
// stays nil if the member was left out; it refuses null, too. Ids, times and bytes are texts, which their method reads.
//
// Unmarshal returns a sender's mistake as *Error. Syntax is checked before fields: a body with a syntax error is Syntax even if
// an earlier member is Unknown or Type. If several members are wrong, Field is the first. After an error, the target may be
// partly filled.
func Unmarshal(data []byte, into any) error {
	if k := jsontext.Value(data).Kind(); k != '{' {
		if err := Check(data); err != nil {
			return err
		}
		return &Error{Kind: NotObject, Reason: "the body must be a JSON object; got " + kinds[k]}
	}
	err := json.Unmarshal(data, into, incoming)
	if err == nil {
		return nil
	}
	if bad, ok := errors.AsType[*json.SemanticError](err); ok {
		if err := Check(data); err != nil {
			return err
		}
		return semantic(bad)
	}
	return syntactic(err)
}

// Check returns an *Error of Kind Syntax unless data is exactly one JSON value: UTF-8 without a byte order mark, no lone
// surrogates, no duplicate name in an object, only white space around it, at most 10,000 levels deep.
func Check(data []byte) error {
	if bytes.HasPrefix(data, bom) {
		return &Error{Kind: Syntax, Reason: "the body must not begin with a byte order mark"}
	}
	var v jsontext.Value
	if err := json.Unmarshal(data, &v); err != nil {
		return syntactic(err)
	}
	return nil
}

// refuseNull refuses a null that would silently become a zero value. Types with their own decoder decide for themselves.
func refuseNull(dec *jsontext.Decoder, into any) error {
	if dec.PeekKind() != 'n' {
		return errors.ErrUnsupported
	}
	switch into.(type) {
	case json.UnmarshalerFrom, *Raw:
		return errors.ErrUnsupported
	}
	t := reflect.TypeOf(into).Elem()
	if t.Kind() == reflect.Interface {
		return errors.ErrUnsupported
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return &json.SemanticError{JSONKind: 'n', GoType: t}
}
