package wire

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of an error in a body, by which a route chooses its 400 code (§7).
type Kind uint8

const (
	// Syntax is a body that is not one JSON value: malformed, not UTF-8, a duplicate name, data after the end.
	Syntax Kind = iota + 1
	// NotObject is valid JSON that is not an object.
	NotObject
	// Unknown is a member that the input does not have.
	Unknown
	// Type is a member of the wrong type, including null and integers out of range.
	Type
)

// Error is a body refused by Unmarshal or Check.
type Error struct {
	Kind Kind
	// Field is the path of the wrong member, such as `amount_minor` or `attachment_ids[2]`; empty if the error concerns the whole
	// body. It may hold names from the body, cut to 100 bytes.
	Field string
	// Reason is an English phrase for the sender in valid UTF-8; if Field is set, the phrase follows it.
	Reason string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + " " + e.Reason
}

// kinds names the JSON values.
var kinds = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// syntaxes are the reasons for the syntax errors that the library distinguishes.
var syntaxes = []struct {
	err    error
	reason string
}{
	{jsontext.ErrDuplicateName, "appears twice in one object"},
	{jsontext.ErrNonStringName, "must have string names only"},
	{io.ErrUnexpectedEOF, "ends before its JSON is complete"},
}

// wants describes the JSON from which a Go type is read.
var wants = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: integer, reflect.Int64: integer, reflect.String: "a string", reflect.Slice: "a list",
	reflect.Map: "an object", reflect.Struct: "an object",
}

const integer = "an integer without fraction or exponent"

func syntactic(err error) *Error {
	bad, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		bad = &jsontext.SyntacticError{Err: err}
	}
	e := &Error{Kind: Syntax, Field: field(bad.JSONPointer)}
	for _, s := range syntaxes {
		if errors.Is(bad.Err, s.err) {
			e.Reason = s.reason
		}
	}
	if e.Reason == "" {
		e.Reason = strings.ToValidUTF8(fmt.Sprintf("is not valid JSON at byte %d: %v", bad.ByteOffset, bad.Err), "\ufffd")
	}
	if e.Field == "" {
		e.Reason = "the body " + e.Reason
	}
	return e
}

func semantic(bad *json.SemanticError) *Error {
	e := &Error{Kind: Type, Field: field(bad.JSONPointer)}
	switch {
	case errors.Is(bad.Err, json.ErrUnknownName):
		e.Kind, e.Reason = Unknown, NoField(known(bad.GoType))
	case errors.Is(bad.Err, strconv.ErrRange):
		e.Reason = "is out of range"
	default:
		e.Reason = "must be another value"
		if bad.GoType != nil && wants[bad.GoType.Kind()] != "" {
			e.Reason = "must be " + wants[bad.GoType.Kind()]
		}
		if got := kinds[bad.JSONKind]; got != "" {
			e.Reason += "; got " + got
		}
	}
	return e
}

// NoField is the reason for an unknown member of an object; it names the fields of the object, if it has any.
func NoField(fields []string) string {
	const reason = "is not a field of this request"
	if len(fields) == 0 {
		return reason
	}
	return reason + "; the fields here are " + strings.Join(fields, ", ")
}

// known names the fields of an object that is read into a Go struct.
func known(object reflect.Type) (names []string) {
	if object == nil || object.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(object) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// field converts a JSON pointer to a path: /attachment_ids/2 to attachment_ids[2].
func field(p jsontext.Pointer) string {
	const limit = 100
	var b strings.Builder
	for tok := range p.Tokens() {
		_, err := strconv.ParseUint(tok, 10, 64)
		switch {
		case tok == "":
			tok = `""`
		case b.Len() > 0 && err == nil:
			tok = "[" + tok + "]"
		}
		if b.Len() > 0 && tok[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(tok)
		if b.Len() > limit {
			return strings.ToValidUTF8(b.String()[:limit], "") + "…"
		}
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}
