package workload

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// requestTimeout is when an agent gives up a request. The server gives the database 4 s.
	requestTimeout = 12 * time.Second
	// settleTimeout is how long a request is repeated after the faults are over.
	settleTimeout = 90 * time.Second
)

type members = map[string]any

// form is a body that is not JSON.
type form struct {
	raw  []byte
	kind string
}

// request is a request, as the history names it.
type request struct {
	operation, id, subject, of string
	version                    int64
	// part is $x of the operation's path, query the rest of the address.
	part, query string
	// body holds members, or a form.
	body any
	// server names the server for the request; empty for any.
	server string
	// token replaces the agent's token; empty for none.
	token string
	// changed names the member that differs from the answered request under the same id.
	changed string
	// variant returns the request with one member changed, if the body is a form.
	variant func() request
	// pace is how long sending the body takes on purpose, 0 for no delay. announced: its size is sent first.
	pace      time.Duration
	announced bool
}

// keyed returns a request with an idempotency key (§1.7).
func keyed(operation, subject string, body members) request {
	id := uuid.NewString()
	body["operation_id"] = id
	return request{operation: operation, id: id, subject: subject, body: body}
}

func content(body any) form {
	if raw, isForm := body.(form); isForm || body == nil {
		return raw
	}
	raw, _ := json.Marshal(body) //nolint:errchkjson // all members are plain values
	return form{raw, "application/json"}
}

// answer is an attempt with its whole body. Its Status is history.Unanswered if no answer came.
type answer struct {
	history.Attempt

	retryAfter time.Duration
}

// final reports whether a repeat would get the same answer.
func (a answer) final() bool {
	switch a.Status {
	case http.StatusTooManyRequests:
		return a.Code == "storage_quota_exceeded" // waiting does not help
	case history.Unanswered, http.StatusServiceUnavailable, http.StatusInternalServerError:
		return false
	}
	return a.Code != "upload_unavailable"
}

// into decodes the body of a successful answer; it returns an error for other answers.
func (a answer) into(body any) error {
	if !a.Succeeded() {
		return fmt.Errorf("%d %s", a.Status, a.Body)
	}
	return json.Unmarshal(a.Body, body)
}

// text returns a member of a successful answer, empty if it has none.
func (a answer) text(path string) string {
	if !a.Succeeded() {
		return ""
	}
	return member(a.Body, path)
}

// member returns a text in a JSON object by its path, such as "post.id"; empty if it has none.
func member(raw []byte, path string) string {
	var value any
	_ = json.Unmarshal(raw, &value)
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(members)
		value = object[name]
	}
	text, _ := value.(string)
	return text
}

// need makes a request that must succeed, and decodes its answer unless into is nil.
func (a *Agent) need(ctx context.Context, r request, into any) (answer, error) {
	got := a.once(ctx, r)
	if into == nil {
		into = new(json.RawMessage)
	}
	if err := got.into(into); err != nil {
		return got, fmt.Errorf("%s of %s %s: %w", r.operation, a.Handle, r.subject, err)
	}
	return got, nil
}

// pageStep is how many items of a page are kept before the next page is requested, if pages are read in steps.
const pageStep = 20

// pages reads all pages of a list, or in steps: then the next page begins after the item that id names.
func pages[T any](ctx context.Context, a *Agent, r request, member string, id func(T) string) (all []T, err error) {
	for query := r.query; ; {
		var page map[string]json.RawMessage
		if _, err := a.need(ctx, r, &page); err != nil {
			return nil, err
		}
		var items []T
		if err := json.Unmarshal(page[member], &items); err != nil {
			return nil, err
		}
		parameter, next := "before", strings.Trim(string(page["next_before"]), `"`)
		if number := page["next_page"]; number != nil {
			parameter, next = "page", string(number)
		}
		if id != nil && len(items) > pageStep {
			items, next = items[:pageStep], id(items[pageStep-1])
		}
		if all = append(all, items...); next == "" || next == "null" {
			return all, nil
		}
		separator := "&"
		if query == "" && !strings.Contains(operations[r.operation].call, "?") {
			separator = "?"
		}
		r.query = query + separator + parameter + "=" + next
	}
}

// once makes a request and records it.
func (a *Agent) once(ctx context.Context, r request) answer {
	o := operations[r.operation]
	method, path, _ := strings.Cut(r.fill(o.call)+r.query, " ")
	body, token := content(r.body), r.token
	if !o.page {
		path, token = "/api/v1"+path, cmp.Or(token, a.bearer())
	}
	got := answer{Attempt: history.Attempt{
		Agent: a.Handle, Operation: r.operation, ID: r.id, Subject: r.subject, Of: r.of, Changed: r.changed, Version: r.version,
		Slow: r.pace > 0, Changes: method != http.MethodGet && token != "" && r.operation != history.EventAck, Start: a.w.Recorder.Now(),
	}}
	if o.noted {
		got.Sent = body.raw
	}
	if err := a.exchange(ctx, r, method, path, token, body, &got); err != nil {
		got.Failure = err.Error()
	}
	got.End = a.w.Recorder.Now()
	recorded := got.Attempt
	switch {
	case !o.kept || !got.Succeeded() || got.Status == http.StatusNoContent:
		recorded.Body = nil
	case !json.Valid(got.Body):
		recorded.Body = content(string(got.Body)).raw
	}
	a.w.record(recorded)
	return got
}

// exchange sends a request and reads its answer. It finishes a started request even if the run ends, because a request that was
// cut off cannot be judged.
func (a *Agent) exchange(ctx context.Context, r request, method, path, token string, body form, got *answer) error {
	var from io.Reader = bytes.NewReader(body.raw)
	if r.pace > 0 {
		from = newDrip(ctx, body.raw, r.pace)
	}
	sent, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, a.w.url+path, from)
	if err != nil {
		return err
	}
	headers := map[string]string{"Content-Type": body.kind, testbed.ChosenHeader: r.server}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	for name, value := range headers {
		if value != "" {
			sent.Header.Set(name, value)
		}
	}
	if r.announced {
		sent.ContentLength = int64(len(body.raw))
	}
	client := *a.client
	client.Timeout += r.pace
	response, err := client.Do(sent)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if by := response.Header.Get(testbed.BalancerHeader); by != "" {
		return errors.New(history.NoServer + by)
	}
	got.Status, got.Body, got.Process = response.StatusCode, raw, response.Header.Get(testbed.ServerHeader)
	got.Replayed = response.Header.Get("Idempotent-Replayed") == "true"
	if wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s"); err == nil {
		got.retryAfter, got.RetryAfter = wait, true
	}
	if !got.Succeeded() {
		got.Code = member(raw, "error.code") // an answer without a code is judged by its status
	}
	return nil
}

// record adds attempts to the history.
func (w *Workload) record(attempts ...history.Attempt) {
	w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, attempts...) })
}

// repeat makes a request with an idempotency key until it has a final answer: sometimes twice at the same time, and again after
// it was answered. If ctx ends before the answer, settle continues.
func (a *Agent) repeat(ctx context.Context, r request) (answer, bool) {
	wait := 100 * time.Millisecond
	for first := true; ; first = false {
		got := a.attempt(ctx, r, first)
		if got.final() {
			a.answered(ctx, r, got)
			return got, true
		}
		if !pause(ctx, max(wait, got.retryAfter)) {
			a.postpone(r)
			return got, false
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// postpone leaves a request without a final answer to settle.
func (a *Agent) postpone(r request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unsettled = append(a.unsettled, r)
}

// settle repeats requests without a final answer after the run. The judge finds those that stay unanswered.
func (a *Agent) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	left := a.unsettled
	a.unsettled = nil
	for _, r := range left {
		if got, _ := a.repeat(ctx, r); r.operation == history.OrderCreate {
			a.w.note(got)
		}
	}
}
