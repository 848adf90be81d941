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
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
