package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Raw is one JSON value as it was spelled, of any type, null included; its syntax has been checked. A map of Raw reads
// a body whose members are not known beforehand.
type Raw = jsontext.Value

// Nullable is an input field that tells left out, null and a value apart: null unbinds an image (§2.1). Tag it
// omitzero where the input is also marshalled.
type Nullable[T any] struct {
	Set   bool // present, as null or as a value
	Null  bool // present as null
	Value T    // the zero value where Null or not Set
}

// UnmarshalJSONFrom is called by Unmarshal, for a field that is present.
func (n *Nullable[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = Nullable[T]{Set: true, Null: dec.PeekKind() == 'n'}
	if n.Null {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &n.Value)
}

// MarshalJSONTo is called by Marshal. A field that was not sent is null where it is not left out.
func (n Nullable[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !n.Set || n.Null {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, &n.Value)
}
