package fault

import (
	"maps"
	"strings"
	"time"

	"stoa/graph/platform/wire"
)

// Error is a fault on its way to the caller.
type Error struct {
	// Code names the fault; it is never empty.
	Code Code
	// Message replaces the table's text if it is set.
	Message string
	// Fields maps each request field that is wrong to the reason, in plain English.
	Fields map[string]string
	// RetryAfter replaces the table's hint if it is positive; it is shown in whole seconds, rounded up.
	RetryAfter time.Duration

	cause error
}

// New makes a fault with the table's status and text.
func New(code Code) *Error { return &Error{Code: code} }

// Field makes a fault that names one wrong request field.
func Field(code Code, field, reason string) *Error {
	return &Error{Code: code, Fields: map[string]string{field: reason}}
}

// Say returns a copy of e with another message.
func (e *Error) Say(message string) *Error {
	c := *e
	c.Message = message
	return &c
}

// After returns a copy of e with another RetryAfter.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Error returns the code, the fields and the cause, for logs.
func (e *Error) Error() string {
	var line strings.Builder
	line.WriteString(string(e.Code))
	for field, reason := range e.Fields {
		line.WriteString("; " + field + ": " + reason)
	}
	if e.cause != nil {
		line.WriteString(": " + e.cause.Error())
	}
	return line.String()
}

// Unwrap returns the cause, which is only logged.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is compare faults by code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Status is the HTTP status of the fault.
func (e *Error) Status() int { return table[e.Code].status }

// Text is the message shown to the caller.
func (e *Error) Text() string {
	if e.Message != "" {
		return e.Message
	}
	return table[e.Code].message
}

// Retry returns how long the caller should wait before trying again; 0 if waiting does not help.
func (e *Error) Retry() time.Duration {
	if e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return table[e.Code].retry
}

// Fields collects the wrong fields of one request, so that the sender sees all of them at once.
type Fields map[string]string

// Add adds a wrong field; the first reason for it stays. A nil err adds nothing.
func (f Fields) Add(field string, err error) {
	if _, known := f[field]; err != nil && !known {
		f[field] = err.Error()
	}
}

// Fault returns a fault with all fields, or nil if f is empty.
func (f Fields) Fault(code Code) error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Code: code, Fields: maps.Clone(f)}
}

// Wrap makes a fault with a cause, which is only logged.
func Wrap(code Code, err error) *Error { return &Error{Code: code, cause: err} }

// Body makes the fault for a body that package wire refused. It names the wrong field, if there is one. The code's text in the
// table is about values, so it is shown only for a value of a wrong type.
func Body(code Code, refused *wire.Error) *Error {
	e := New(code)
	if refused.Field != "" {
		e = Field(code, refused.Field, refused.Reason)
	}
	switch {
	case refused.Kind == wire.Unknown:
		e.Message = New(UnknownFields).Text()
	case refused.Kind != wire.Type || refused.Field == "":
		e.Message = "The body cannot be read: " + refused.Error() + "."
	}
	return e
}
