package baseline

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// appendPlain appends a member whose value needs no escapes.
func appendPlain(b []byte, name, value string) []byte {
	b = append(append(append(b, '"'), name...), `":"`...)
	return append(append(b, value...), '"')
}

// appendText appends a string.
func appendText(b []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(b, s)
	if err != nil { // PostgreSQL stores valid UTF-8 only
		return append(b, `""`...)
	}
	return quoted
}

func appendBool(b []byte, value bool) []byte { return strconv.AppendBool(b, value) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendTime appends a time with microseconds.
func appendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, `"2006-01-02T15:04:05.000000Z"`)
}

// appendNullable appends a value that needs no escapes, or null.
func appendNullable(b []byte, value *string) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), *value...), '"')
}
