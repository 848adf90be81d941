package wire

import "github.com/go-json-experiment/json/jsontext"

// Text returns the string that raw spells; ok is false where raw is a value of another type.
func Text(raw Raw) (s string, ok bool) {
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}
