package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault is what the server refused (§7). Programs go by Code and Status.
type Fault struct { //nolint:errname // it is the word for it in the whole repository
	Status  int
	Code    string
	Message string
	// Fields names each field to blame and what is wrong with it; mostly nil.
	Fields map[string]any
	// RequestID names the request to the operator.
	RequestID string
	// RetryAfter is how long to wait before trying again; 0 where the server does not say.
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
	seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")) // 0 where there is none
	return &Fault{
		Status: a.Status, Code: body.Error.Code, Message: body.Error.Message, Fields: body.Error.Fields,
		RequestID: a.Header.Get("X-Request-Id"), RetryAfter: time.Duration(seconds) * time.Second,
	}
}
