// Package input checks the fields of requests, for all domains in the same way. A field that is left out is a nil pointer.
// Package text has the rules of single values.
package input

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// Errors of fields, in addition to the errors of package text.
var (
	ErrRequired = errors.New("is required")
	ErrPast     = errors.New("must be in the future")
	errPositive = errors.New("must be at least 1")
	errTwice    = errors.New("must not hold an id twice")
)

// Fields collects the wrong fields of one request. Each method reads one field; use its result only if no field is wrong.
type Fields struct{ fault.Fields }

// New returns empty Fields.
func New() Fields { return Fields{fault.Fields{}} }

// Require returns the value of a field that must be sent.
func Require[T any](f Fields, name string, sent *T) T {
	return Read(f, name, sent, func(value T) (T, error) { return value, nil })
}

// Read returns the value of a field that must be sent, as parse reads it.
func Read[T, S any](f Fields, name string, sent *S, parse func(S) (T, error)) (value T) {
	if sent == nil {
		f.Add(name, ErrRequired)
		return value
	}
	value, err := parse(*sent)
	f.Add(name, err)
	return value
}

// ID reads an id that must be sent.
func (f Fields) ID(name string, sent *string) uuid.UUID { return Read(f, name, sent, text.UUID) }

// Handle reads a handle that must be sent.
func (f Fields) Handle(name string, sent *string) string {
	return Read(f, name, sent, func(s string) (string, error) { return s, text.Handle(s) })
}

// Time reads a time that must be sent.
func (f Fields) Time(name string, sent *string) time.Time { return Read(f, name, sent, text.Time) }

// Line reads one line that must be sent, of least to most characters.
func (f Fields) Line(name string, sent *string, least, most int) string {
	return Read(f, name, sent, func(s string) (string, error) { return text.Line(s, least, most) })
}

// Text reads a text that must be sent, of least to most characters.
func (f Fields) Text(name string, sent *string, least, most int) string {
	return Read(f, name, sent, func(s string) (string, error) { return text.Multi(s, least, most) })
}

// IfSent calls read for a field that may be left out; it returns nil if the field is left out.
func IfSent[T, S any](sent *S, read func() T) *T {
	if sent == nil {
		return nil
	}
	value := read()
	return &value
}

// Count reads a number that must be sent and be at least 1.
func (f Fields) Count(name string, sent *int64) int64 {
	n := Require(f, name, sent)
	if n < 1 {
		f.Add(name, errPositive)
	}
	return n
}

// IDs reads a set of up to most ids.
func (f Fields) IDs(name string, sent []string, most int) []uuid.UUID {
	if len(sent) > most {
		f.Add(name, fmt.Errorf("must hold at most %d ids", most))
		return nil
	}
	ids := make([]uuid.UUID, 0, len(sent))
	for i, s := range sent {
		id, err := text.UUID(s)
		switch {
		case err != nil:
			f.Add(fmt.Sprintf("%s[%d]", name, i), err)
		case slices.Contains(ids, id):
			f.Add(name, errTwice)
		default:
			ids = append(ids, id)
		}
	}
	return ids
}

// NoChange returns the fault of a request that changes nothing.
func NoChange(code fault.Code) error {
	return fault.New(code).Say("Send at least one field to change.")
}

// ID reads an id of the path. It returns invalid_id if it is malformed.
func ID(name, sent string) (uuid.UUID, error) {
	id, err := text.UUID(sent)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, name, err.Error())
	}
	return id, nil
}

// List identifies a list by the id of its subject. Before is the last row of the previous page; nil for the first page.
type List struct {
	Of     uuid.UUID
	Before *uuid.UUID
}

// ListOf reads an id of the path and the query parameter before. It returns invalid_id if one is malformed.
func ListOf(name, sent string, before page.Param) (of List, err error) {
	if of.Of, err = ID(name, sent); err == nil {
		of.Before, err = page.ID("before", before)
	}
	return of, err
}
