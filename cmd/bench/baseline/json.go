package baseline

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// field appends a name and a value that needs no escapes.
func field(b []byte, name, value string) []byte {
	b = append(append(append(b, '"'), name...), `":"`...)
	return append(append(b, value...), '"')
}

// text appends a string.
func text(b []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(b, s)
	if err != nil { // what PostgreSQL holds is valid UTF-8
		return append(b, `""`...)
	}
	return quoted
}

func boolean(b []byte, value bool) []byte { return strconv.AppendBool(b, value) }

func number(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// stamp appends a time as the wire has it.
func stamp(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, `"2006-01-02T15:04:05.000000Z"`)
}

// optional appends a value that needs no escapes, or null.
func optional(b []byte, value *string) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), *value...), '"')
}
