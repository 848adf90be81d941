package wire

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Appender is a card that appends its own JSON, as Marshal would write its fields; a test of each card compares the two. A struct that
// embeds an Appender would be taken for one: name the field instead.
//
// It saves Marshal's reflection in the answers that agents read most: with 16 connections 5 to 10 % of the throughput of GET /bots/me
// and of the feed (measured with AppendJSON switched off). Remove it, and the AppendJSON methods of the cards, when the library
// marshals a card within a few per cent of this file; its benchmark is BenchmarkMarshal of the cards.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// Object appends one JSON object to a buffer, one member a call, in the order of the calls. Names are written without escaping.
// After an error it goes on, and End returns the first one.
type Object struct {
	b   []byte
	err error
}

// NewObject begins an object at the end of b.
func NewObject(b []byte) Object { return Object{b: append(b, '{')} }

// End ends the object and returns the buffer.
func (o *Object) End() ([]byte, error) { return append(o.b, '}'), o.err }

func (o *Object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *Object) null() { o.b = append(o.b, "null"...) }

// set replaces the buffer by what a function returned.
func (o *Object) set(b []byte, err error) {
	o.b = b
	if o.err == nil {
		o.err = err
	}
}

// String appends a text.
func (o *Object) String(name, s string) {
	o.name(name)
	o.set(jsontext.AppendQuote(o.b, s))
}

// StringOrNull appends a text, null for none.
func (o *Object) StringOrNull(name string, s *string) {
	if s != nil {
		o.String(name, *s)
		return
	}
	o.name(name)
	o.null()
}

// Bool appends true or false.
func (o *Object) Bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

// Int appends a number.
func (o *Object) Int(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// IntOrNull appends a number, null for none.
func (o *Object) IntOrNull(name string, n *int64) {
	if n != nil {
		o.Int(name, *n)
		return
	}
	o.name(name)
	o.null()
}

// UUID appends an id.
func (o *Object) UUID(name string, id uuid.UUID) {
	o.name(name)
	o.b = appendUUID(o.b, id)
}

// UUIDOrNull appends an id, null for none.
func (o *Object) UUIDOrNull(name string, id *uuid.UUID) {
	if id != nil {
		o.UUID(name, *id)
		return
	}
	o.name(name)
	o.null()
}

// UUIDs appends a list of ids.
func (o *Object) UUIDs(name string, ids ...uuid.UUID) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, id := range ids {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendUUID(o.b, id)
	}
	o.b = append(o.b, ']')
}

// TimeOrNull appends a time, null for none.
func (o *Object) TimeOrNull(name string, t *time.Time) {
	if t != nil {
		o.Time(name, *t)
		return
	}
	o.name(name)
	o.null()
}

// Members appends an object of these members, sorted by their names.
func (o *Object) Members(name string, members map[string]any) {
	o.name(name)
	inner := NewObject(o.b)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		switch value := members[member].(type) {
		case nil:
			inner.name(member)
			inner.null()
		case int:
			inner.Int(member, int64(value))
		case int64:
			inner.Int(member, value)
		case string:
			inner.String(member, value)
		default:
			raw, err := Marshal(value)
			inner.name(member)
			inner.set(append(inner.b, raw...), err)
		}
	}
	o.set(inner.End())
}

// Time appends a time.
func (o *Object) Time(name string, t time.Time) {
	o.name(name)
	o.set(appendTime(o.b, t))
}

// Bytes appends bytes as padded base64.
func (o *Object) Bytes(name string, raw []byte) {
	o.name(name)
	o.b = appendBytes(o.b, raw)
}

func appendBytes(b, raw []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), '"')
}

// BytesOrNull adds bytes in base64, or null for nil.
func (o *Object) BytesOrNull(name string, raw []byte) {
	if raw == nil {
		o.name(name)
		o.null()
		return
	}
	o.Bytes(name, raw)
}

// Card appends a card.
func (o *Object) Card(name string, card Appender) {
	o.name(name)
	o.set(card.AppendJSON(o.b))
}

// CardOrNull appends a card, null for none.
func CardOrNull[T any, P interface {
	*T
	Appender
}](o *Object, name string, card P) {
	if card != nil {
		o.Card(name, card)
		return
	}
	o.name(name)
	o.null()
}

// IntOrNull appends a number, null for none.
func IntOrNull[T int | int64](o *Object, name string, n *T) {
	if n != nil {
		o.Int(name, int64(*n))
		return
	}
	o.name(name)
	o.null()
}

// Cards appends a list of cards.
func Cards[T Appender](o *Object, name string, cards []T) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, card := range cards {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.set(card.AppendJSON(o.b))
	}
	o.b = append(o.b, ']')
}
