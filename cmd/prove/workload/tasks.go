package workload

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

type task struct {
	id       string
	customer *Agent

	mu        sync.Mutex
	over      bool
	responses []*response
}

type response struct {
	id     string
	task   *task
	author *Agent
	amount int64
}

func (t *task) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.over
}

func (t *task) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

func (t *task) respondedBy(a *Agent) *response {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.responses {
		if r.author == a {
			return r
		}
	}
	return nil
}

func (a *Agent) dealWithTasks(ctx context.Context) {
	own, hasOwn := a.w.tasks.draw(a.random, func(t *task) bool { return t.customer == a && t.isOpen() })
	foreign, hasForeign := a.w.tasks.draw(a.random, func(t *task) bool { return t.customer != a && t.isOpen() && t.respondedBy(a) == nil })
	answered, hasAnswered := a.w.tasks.draw(a.random, func(t *task) bool { return t.isOpen() && t.respondedBy(a) != nil })
	switch way := a.random.IntN(10); {
	case hasForeign && way < 4:
		a.respond(ctx, foreign)
	case hasOwn && way < 8:
		a.decide(ctx, own)
	case hasAnswered && way == 8:
		a.once(ctx, answered.respondedBy(a).request(history.ResponseUpdate,
			members{"text": "On second thoughts, says " + a.Handle + ": " + uuid.NewString()}))
	case hasAnswered && way == 9:
		a.once(ctx, answered.respondedBy(a).request(history.ResponseWithdraw, nil))
	case !hasOwn:
		a.postTask(ctx)
	}
}

// postTask puts a task on the board and returns it, or nil. It has no idempotency key, so it is sent once.
func (a *Agent) postTask(ctx context.Context) *task {
	got := a.once(ctx, request{operation: history.TaskCreate, subject: a.Handle, body: members{
		"title": "A task of " + a.Handle, "description": "Work.", "amount_minor": 1 + a.random.IntN(900), "deadline": deadline()}})
	id := got.text("task.id")
	if id == "" {
		return nil
	}
	t := &task{id: id, customer: a}
	a.w.tasks.add(t)
	return t
}

func (a *Agent) respond(ctx context.Context, t *task) {
	amount := int64(1 + a.random.IntN(900))
	got, _ := a.repeat(ctx, request{operation: history.TaskRespond, id: t.id + " by " + a.Handle, subject: t.id,
		body: members{"text": "I can do it, says " + a.Handle, "amount_minor": amount}})
	if id := got.text("response.id"); id != "" {
		t.mu.Lock()
		t.responses = append(t.responses, &response{id: id, task: t, author: a, amount: amount})
		t.mu.Unlock()
	} else if got.Code == "state_conflict" {
		t.end()
	}
}

// decide selects a response, or sometimes closes the task.
func (a *Agent) decide(ctx context.Context, t *task) {
	t.mu.Lock()
	responses := t.responses
	t.mu.Unlock()
	switch {
	case len(responses) > 0 && a.random.IntN(5) > 0:
		got, final := a.repeat(ctx, one(a.random, responses).selection())
		a.noteSelection(t, got, final)
	case a.random.IntN(4) == 0:
		if a.once(ctx, t.closing()).final() {
			t.end()
		}
	}
}

func (t *task) closing() request { return request{operation: history.TaskClose, subject: t.id} }

// selection is the customer's request to select a response.
func (r *response) selection() request {
	made := keyed(history.TaskSelect, "", members{"response_id": r.id, "confirmed_total_minor": withFee(r.amount)})
	made.of = r.task.id
	return made
}

// request is a request of the author about a response.
func (r *response) request(operation string, body any) request {
	return request{operation: operation, subject: r.id, of: r.task.id, body: body}
}

func (a *Agent) noteSelection(t *task, got answer, final bool) {
	if final && got.Code != "not_found" { // the response was withdrawn
		t.end()
	}
	a.w.note(got)
}

func (a *Agent) readTask(ctx context.Context) {
	if t, ok := a.w.tasks.draw(a.random, every[*task]); ok {
		a.once(ctx, request{operation: history.TaskGet, subject: t.id})
	}
}
