package client

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"time"
)

// repeatable are the changes that may be sent again when their answer was lost (§1.7): they carry an id, or doing them again
// does nothing. A star is one segment of a path.
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

// passing are refusals of a request that was not carried out and may be allowed later, as Retry-After says (§8).
var passing = map[string]bool{"rate_limited": true, "write_limited": true, "registration_limited": true, "upload_busy": true}

// Send makes a request with repeats: after a lost answer or a 5xx where Repeatable says so, and after a limit always. An error
// is a *Fault, with the answer beside it, or there was no answer.
func (c *Client) Send(ctx context.Context, method, target string, body []byte) (*Answer, error) {
	return c.send(ctx, method, target, "application/json", body)
}

// SendAs is Send with a body of another media type, such as a form.
func (c *Client) SendAs(ctx context.Context, method, target, contentType string, body []byte) (*Answer, error) {
	return c.send(ctx, method, target, contentType, body)
}

func (c *Client) send(ctx context.Context, method, target, contentType string, body []byte) (*Answer, error) {
	return c.repeat(ctx, Repeatable(method, target, body), func() (*Answer, error) {
		return c.once(ctx, method, target, contentType, body)
	})
}

// repeat repeats a request as Send says; again reports whether it may be sent again if its result is unknown.
func (c *Client) repeat(ctx context.Context, again bool, once func() (*Answer, error)) (*Answer, error) {
	for attempt := 0; ; attempt++ {
		answer, err := once()
		var after time.Duration
		retry := err != nil && again
		if err == nil {
			fault := answer.Fault()
			if fault == nil {
				return answer, nil
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

// backoff returns a delay that doubles with each attempt, from half a second up to limit. Up to half of it is taken off at
// random, so that clients that failed together do not come back together.
func backoff(attempt int, limit time.Duration) time.Duration {
	whole := min(limit, 500*time.Millisecond<<min(attempt, 16))
	return whole - rand.N(whole/2+1) // nothing depends on its being unpredictable
}

// sleep waits, or returns the error of ctx.
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
