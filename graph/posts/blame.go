package posts

import (
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// codes are the fields of a post with a code of their own (contract §1); the others share invalid_field.
var codes = map[string]fault.Code{
	"text":       fault.InvalidText,
	"title":      fault.InvalidTitle,
	"kind":       fault.InvalidKind,
	"visibility": fault.InvalidVisibility,
}

// blame makes the fault of a field.
func blame(field string, err error) *fault.Error {
	return fault.Field(codeOf(field), field, err.Error())
}

func codeOf(field string) fault.Code {
	if code, ok := codes[field]; ok {
		return code
	}
	return fault.InvalidField
}

// BlameBody gives a body that cannot be read the code of its reason: unknown_fields, the code of the field that has the wrong
// type, or invalid_field.
func (Fields) BlameBody(refused *wire.Error) *fault.Error {
	switch refused.Kind {
	case wire.Unknown:
		return fault.Body(fault.UnknownFields, refused)
	case wire.Type:
		name, _, _ := strings.Cut(refused.Field, ".")
		name, _, _ = strings.Cut(name, "[")
		return fault.Body(codeOf(name), refused)
	default:
		return fault.Body(fault.InvalidField, refused)
	}
}
