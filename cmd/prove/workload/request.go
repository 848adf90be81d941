package workload

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// requestTimeout is when an agent gives a request up. The server gives the database 4 s.
	requestTimeout = 12 * time.Second
	// settleTimeout is how long a request is repeated after the faults are over.
	settleTimeout = 90 * time.Second
)

// request is a request, as the history names it.
type request struct {
	operation, id, subject string
	// of is the task or the draft that the subject belongs to.
	of      string
	version int64

	method, path string
	// page says that path is outside the API, such as that of an owner's page; the agent's token is not sent there.
	page bool
	// body is sent as JSON; raw with its content type where it is set.
	body        any
	raw         []byte
	contentType string
	// keep keeps the answer in the history.
	keep bool
	// server names the server that shall answer; empty for any.
	server string
	// changed names the member that differs from the request that was answered under the same id.
	changed string
	// variant returns the request with one member changed, where the table of variants does not serve.
	variant func() request
	// token is another token than the agent's, or empty; accept the header Accept.
	token, accept string
	// noted keeps the body in the history.
	noted bool
	// tool says that a tool is called in the place of the request.
	tool bool
	// pace is how long raw is under way, 0 for no longer than it takes; announced says that its size is sent before it.
	pace      time.Duration
	announced bool
}

// answer is the answer. status is history.Unanswered if none came.
type answer struct {
	status     int
	code       string
	retryAfter time.Duration
	body       []byte
}

func (a answer) succeeded() bool { return a.status >= 200 && a.status < 300 }

// final reports an answer that a repeat would not change.
func (a answer) final() bool {
	switch a.status {
	case http.StatusTooManyRequests:
		return a.code == "storage_quota_exceeded" // waiting does not help
	case history.Unanswered, http.StatusServiceUnavailable, http.StatusInternalServerError:
		return false
	}
	return a.code != "upload_unavailable"
}

// into decodes the body of an answer that succeeded.
func (a answer) into(body any) error { return json.Unmarshal(a.body, body) }

// once makes a request and records it.
func (a *Agent) once(ctx context.Context, r request) answer {
	recorded := history.Attempt{
		Agent: a.Handle, Operation: r.operation, ID: r.id, Subject: r.subject, Of: r.of, Changed: r.changed, Version: r.version,
		Slow: r.pace > 0, Start: a.w.Recorder.Now(),
	}
	recorded.Changes = r.method != http.MethodGet && (!r.page || r.token != "") && r.operation != history.EventAck && cmp.Or(r.token, a.bearer()) != ""
	if r.noted {
		raw, err := json.Marshal(r.body)
		if err != nil {
			recorded.Failure = err.Error()
		}
		recorded.Sent = raw
	}
	sent, byTool := a.byTool(r)
	recorded.Tool = byTool
	got := a.exchange(ctx, sent, &recorded)
	recorded.End, recorded.Status, recorded.Code = a.w.Recorder.Now(), got.status, got.code
	if r.keep && got.succeeded() {
		recorded.Body = got.body
		if !json.Valid(got.body) {
			recorded.Body = textOf(got.body)
		}
	}
	a.w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
	return got
}

// textOf returns a text as a string of JSON.
func textOf(raw []byte) json.RawMessage {
	text, err := json.Marshal(string(raw))
	if err != nil {
		return nil // the judge reports that it has no answer
	}
	return text
}

// exchange sends a request and reads its answer.
func (a *Agent) exchange(ctx context.Context, r request, recorded *history.Attempt) answer {
	unanswered := func(why string) answer {
		recorded.Failure = why
		return answer{status: history.Unanswered}
	}
	body, contentType := io.Reader(nil), ""
	switch {
	case r.pace > 0:
		body, contentType = newDrip(ctx, r.raw, r.pace), r.contentType
	case r.raw != nil:
		body, contentType = bytes.NewReader(r.raw), r.contentType
	case r.body != nil:
		raw, err := json.Marshal(r.body)
		if err != nil {
			return unanswered(err.Error())
		}
		body, contentType = bytes.NewReader(raw), "application/json"
	}
	// A request that was begun is ended: one that the run's end cuts off could not be judged.
	url := a.w.url + "/api/v1" + r.path
	if r.page {
		url = a.w.url + r.path
	}
	sent, err := http.NewRequestWithContext(context.WithoutCancel(ctx), r.method, url, body)
	if err != nil {
		return unanswered(err.Error())
	}
	if contentType != "" {
		sent.Header.Set("Content-Type", contentType)
	}
	token := r.token
	if token == "" && !r.page {
		token = a.bearer()
	}
	if token != "" {
		sent.Header.Set("Authorization", "Bearer "+token)
	}
	if r.accept != "" {
		sent.Header.Set("Accept", r.accept)
		sent.Header.Set("MCP-Protocol-Version", protocol)
	}
	if r.server != "" {
		sent.Header.Set(testbed.ChosenHeader, r.server)
	}
	client := a.client
	if r.pace > 0 {
		client = &http.Client{Transport: client.Transport, Timeout: r.pace + requestTimeout}
		if r.announced {
			sent.ContentLength = int64(len(r.raw))
		}
	}
	response, err := client.Do(sent)
	if err != nil {
		return unanswered(err.Error())
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return unanswered(err.Error())
	}
	if by := response.Header.Get(testbed.BalancerHeader); by != "" {
		return unanswered(history.NoServer + by)
	}
	recorded.Process = response.Header.Get(testbed.ServerHeader)
	recorded.Replayed = response.Header.Get("Idempotent-Replayed") == "true"
	got := answer{status: response.StatusCode, body: raw}
	if wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s"); err == nil {
		got.retryAfter, recorded.RetryAfter = wait, true
	}
	if !got.succeeded() {
		var fault struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		_ = json.Unmarshal(raw, &fault) // an answer without a code is judged by its status
		got.code = fault.Error.Code
	}
	if r.tool {
		wait := got.retryAfter
		got, recorded.Replayed = a.untold(r, got)
		recorded.RetryAfter = recorded.RetryAfter || got.retryAfter > wait
	}
	return got
}

// repeat makes a request that has an idempotency key until it has a final answer: sometimes twice at the same moment, and again
// after it was answered. If ctx ends before the answer, the request is left to settle.
func (a *Agent) repeat(ctx context.Context, r request) (answer, bool) {
	wait := 100 * time.Millisecond
	for first := true; ; first = false {
		got := a.attempt(ctx, r, first)
		if got.final() {
			a.answered(ctx, r, got)
			return got, true
		}
		if !a.pause(ctx, max(wait, got.retryAfter)) {
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

// settle repeats what had no final answer when the run ended.
func (a *Agent) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	left := a.unsettled
	a.unsettled = nil
	for _, r := range left {
		got, _ := a.repeat(ctx, r)
		if r.operation == "order.create" && got.succeeded() {
			a.noteOrder(got)
		}
	}
	return nil // what is left is the judge's to find
}

// pause waits; it returns false where ctx ended.
func (a *Agent) pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
