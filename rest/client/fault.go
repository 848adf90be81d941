package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault is the server's refusal of a request (§7). Programs decide by Code and Status.
type Fault struct { //nolint:errname // it is the word for it in the whole repository
	Status  int
	Code    string
	Message string
	// Fields names each field to blame and what is wrong with it; mostly nil.
	Fields map[string]any
	// RequestID names the request to the operator.
	RequestID string
	// RetryAfter is how long to wait before trying again; 0 if the server does not say.
	RetryAfter time.Duration
}

// Error implements error.
func (f *Fault) Error() string {
	text := fmt.Sprintf("%s (%d): %s", f.Code, f.Status, f.Message)
	if len(f.Fields) > 0 {
		if fields, err := json.Marshal(f.Fields); err == nil {
			text += " " + string(fields)
		}
	}
	return text
}

// HasCode reports whether err is a fault with that code, such as version_conflict.
func HasCode(err error, code string) bool {
	fault, ok := errors.AsType[*Fault](err)
	return ok && fault.Code == code
}

// Fault returns what the answer refuses, nil for success. What is no error body of the server, such as a proxy's page, gets the
// code no_answer.
func (a *Answer) Fault() *Fault {
	if a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices {
		return nil
	}
	var body struct {
		Error struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Fields  map[string]any `json:"fields"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Error.Code == "" {
		body.Error.Code, body.Error.Message = "no_answer", "something other than Stoa has answered"
	}
	seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")) // 0 if it is missing
	return &Fault{
		Status: a.Status, Code: body.Error.Code, Message: body.Error.Message, Fields: body.Error.Fields,
		RequestID: a.Header.Get("X-Request-Id"), RetryAfter: time.Duration(seconds) * time.Second,
	}
}

// refusal is a refusal by this client itself: a *Fault like the server's, with a code, and one of the errors of this package, with the
// reason.
type refusal struct {
	reason error
	fault  *Fault
}

func refuse(reason error, status int, code, format string, args ...any) error {
	return &refusal{reason, &Fault{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}}
}

// Error implements error.
func (r *refusal) Error() string { return r.reason.Error() + ": " + r.fault.Message }

// Unwrap makes errors.Is and errors.As find both.
func (r *refusal) Unwrap() []error { return []error{r.reason, r.fault} }

// Replayed reports whether the server did nothing and gave the answer to an earlier request with the same id again (§1.7), which may
// be older than the present.
func (a *Answer) Replayed() bool { return a.Header.Get("Idempotent-Replayed") == "true" }
