package wire

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

var (
	incoming = json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(
			json.UnmarshalFromFunc(refuseNull),
			json.UnmarshalFromFunc(readUUID),
		)),
	)
	bom = []byte("\xef\xbb\xbf")
)

// Unmarshal reads one JSON object from data into the struct or map that into points to (§1.3).
// Member names match case-sensitively; integers have neither fraction nor exponent; a UUID is in canonical form;
// null is refused for all but Nullable, Raw and any. A pointer is nil if the member was left out; it refuses null, too.
//
// What the sender did wrong comes back as *Error. Syntax is judged before fields: a body that is broken anywhere is
// Syntax even where an earlier member is Unknown or Type. Of several bad members the first is named. After an error
// the target may be partly filled.
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

// Check reports whether data is exactly one JSON value as this package reads it: UTF-8 without a byte order mark, no
// lone surrogates, no name twice in one object, nothing but white space around it, at most 10,000 levels deep. It
// returns an *Error of Kind Syntax.
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

// refuseNull refuses a null that would silently become a zero value. Types with their own decoder decide themselves.
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

// readUUID takes the canonical form only: uuid.Parse also knows braces, URNs and bare digits, all of other lengths.
func readUUID(dec *jsontext.Decoder, into *uuid.UUID) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	refused := &json.SemanticError{JSONKind: tok.Kind(), GoType: reflect.TypeFor[uuid.UUID]()}
	if tok.Kind() != '"' {
		return refused
	}
	s := tok.String()
	if len(s) != 36 {
		return refused
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return refused
	}
	*into = id
	return nil
}
