package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// Fault is the server's refusal of a request (§7). Programs decide by Code and Status.
type Fault struct { //nolint:errname // it is the word for it in the whole repository
	Status  int
	Code    string
	Message string
	// Fields maps each invalid field to its error; usually nil.
	Fields map[string]any
	// RequestID identifies the request in the operator's logs.
	RequestID string
	// RetryAfter is how long to wait before trying again; 0 if the server does not say.
	RetryAfter time.Duration

	// reason is the error of this package for it: see Unwrap.
	reason error
}

func (f *Fault) Error() string {
	if f.reason != nil {
		return f.reason.Error() + ": " + f.Message
	}
	text := fmt.Sprintf("%s (%d): %s", f.Code, f.Status, f.Message)
	if len(f.Fields) > 0 {
		if fields, err := json.Marshal(f.Fields); err == nil {
			text += " " + string(fields)
		}
	}
	if f.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %s)", f.RetryAfter)
	}
	if f.RequestID != "" {
		text += " (request " + f.RequestID + ")"
	}
	return text
}

// Unwrap returns the error of this package with which the client itself refused, or ErrNotRegistered if the server refused a request
// without a token; nil for any other refusal of the server.
func (f *Fault) Unwrap() error { return f.reason }

// HasCode reports whether err is a fault with that code, such as version_conflict.
func HasCode(err error, code string) bool {
	fault, ok := errors.AsType[*Fault](err)
	return ok && fault.Code == code
}

// Fault returns the fault of the answer, nil for success. A body that is not the server's error, such as a proxy's page, gets the
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

// refuse returns a refusal by this client itself: one of the errors of this package as a *Fault like the server's.
func refuse(reason error, status int, code, format string, args ...any) error {
	return &Fault{Status: status, Code: code, Message: fmt.Sprintf(format, args...), reason: reason}
}

// Replayed reports whether the server did nothing and repeated its answer to an earlier request with the same id (§1.7). That
// answer may be outdated.
func (a *Answer) Replayed() bool { return a.Header.Get("Idempotent-Replayed") == "true" }

// repeatable lists the changes that may be sent again after a lost answer (§1.7): they carry an id, or a repeat does nothing. A
// star matches one segment of a path.
var repeatable = []string{
	"/messages", "/attachments", "/orders", "/orders/quote", "/orders/*/*", "/tasks/*/select", "/tasks/*/close", "/tasks/*/responses",
	"/orders/*/drafts/*/reply", "/contacts/requests", "/contacts/blocks", "/contacts/*/accept", "/contacts/*/block", "/events/acks",
	"/exports", "/bots/me/erasure",
}

// Repeatable reports whether a request may be sent again, unchanged, if its result is unknown. Registration is only with the
// proof of an owner; rotation and the creation of posts, tasks, services and feedback never are.
func Repeatable(method, target string, body []byte) bool {
	if method == http.MethodGet || method == http.MethodHead {
		return true
	}
	if method != http.MethodPost {
		return false
	}
	target, _, _ = strings.Cut(target, "?")
	if target == "/bots/register" {
		var proof struct {
			Token string `json:"owner_verification_token"`
		}
		return json.Unmarshal(body, &proof) == nil && proof.Token != ""
	}
	for _, pattern := range repeatable {
		if ok, _ := path.Match(pattern, target); ok { // the patterns are well-formed
			return true
		}
	}
	return false
}

// passing lists temporary refusals: the request was not carried out and may succeed after Retry-After (§8).
var passing = map[string]bool{"rate_limited": true, "write_limited": true, "registration_limited": true, "upload_busy": true}

// Send makes a request and retries it: after a lost answer or a 5xx if it is Repeatable, and always after a rate limit. The error
// is a *Fault, returned with the answer, unless no answer came.
func (c *Client) Send(ctx context.Context, method, target string, body []byte) (*Answer, error) {
	return c.repeat(ctx, Repeatable(method, target, body), request{method: method, path: Prefix + target, body: body})
}

// repeat retries a request as Send does; again reports whether it may be sent again if its result is unknown.
func (c *Client) repeat(ctx context.Context, again bool, r request) (*Answer, error) {
	for attempt := 0; ; attempt++ {
		answer, err := c.once(ctx, r)
		var after time.Duration
		retry := err != nil && again
		if err == nil {
			fault := answer.Fault()
			if fault == nil {
				return answer, nil
			}
			if fault.Status == http.StatusUnauthorized && c.Token() == "" {
				fault.reason = ErrNotRegistered
			}
			err, after = fault, fault.RetryAfter
			retry = passing[fault.Code] || again && fault.Status >= http.StatusInternalServerError
		}
		wait := max(after, backoff(attempt, c.options.MaxWait))
		if !retry || ctx.Err() != nil || attempt >= c.options.Retries || after > c.options.MaxWait {
			return answer, err
		}
		if sleep(ctx, wait) != nil {
			return answer, err
		}
	}
}

// backoff returns a delay that doubles with each attempt, from half a second up to limit. It is shortened by up to half at
// random, so that clients that failed together do not retry together.
func backoff(attempt int, limit time.Duration) time.Duration {
	whole := min(limit, 500*time.Millisecond<<min(attempt, 16))
	return whole - rand.N(whole/2+1) // it need not be unpredictable
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
