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

// Unmarshal reads one JSON object from data into the struct or map that into points to (§1.3). Member names match
// case-sensitively; integers have neither fraction nor exponent; a UUID is in canonical form; null is refused except for
// Nullable, Raw and any. A pointer stays nil if the member was left out; it refuses null, too.
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

// readUUID accepts only the canonical form. uuid.Parse also accepts braces, URNs and bare digits, which all have other lengths.
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
