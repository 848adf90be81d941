package workload

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// task is a task of the board, with the responses to it.
type task struct {
	id       string
	customer *Agent

	mu        sync.Mutex
	over      bool
	responses []*response
}

// response is a response to a task.
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

// dealWithTasks does one thing with the task board.
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
		a.changeResponse(ctx, answered.respondedBy(a))
	case hasAnswered && way == 9:
		a.withdrawResponse(ctx, answered.respondedBy(a))
	case !hasOwn:
		a.postTask(ctx)
	}
}

// postTask puts a task on the board. It has no idempotency key, so it is sent once.
func (a *Agent) postTask(ctx context.Context) {
	got := a.once(ctx, request{operation: history.TaskCreate, subject: a.Handle, method: http.MethodPost, path: "/tasks", keep: true,
		body: map[string]any{"title": "A task of " + a.Handle, "description": "Work.", "amount_minor": 1 + a.random.IntN(900),
			"deadline": deadline()}})
	var made struct{ Task struct{ ID string } }
	if got.succeeded() && got.into(&made) == nil {
		a.w.tasks.add(&task{id: made.Task.ID, customer: a})
	}
}

func (a *Agent) respond(ctx context.Context, t *task) {
	amount := int64(1 + a.random.IntN(900))
	got, final := a.repeat(ctx, request{operation: history.TaskRespond, id: t.id + " by " + a.Handle, subject: t.id, method: http.MethodPost,
		path: "/tasks/" + t.id + "/responses", keep: true,
		body: map[string]any{"text": "I can do it, says " + a.Handle, "amount_minor": amount}})
	var made struct{ Response struct{ ID string } }
	if final && got.succeeded() && got.into(&made) == nil {
		t.mu.Lock()
		t.responses = append(t.responses, &response{id: made.Response.ID, task: t, author: a, amount: amount})
		t.mu.Unlock()
	} else if got.code == "state_conflict" {
		t.end()
	}
}

// decide selects a response, or sometimes closes the task.
func (a *Agent) decide(ctx context.Context, t *task) {
	t.mu.Lock()
	var chosen *response
	if len(t.responses) > 0 {
		chosen = t.responses[a.random.IntN(len(t.responses))]
	}
	t.mu.Unlock()
	switch {
	case chosen != nil && a.random.IntN(5) > 0:
		got, final := a.repeat(ctx, chosen.selection())
		a.noteSelection(t, got, final)
	case a.random.IntN(4) == 0:
		a.closeTask(ctx, t)
	}
}

func (a *Agent) closeTask(ctx context.Context, t *task) {
	if got := a.once(ctx, t.closing()); got.final() {
		t.end()
	}
}

func (t *task) closing() request {
	return request{operation: history.TaskClose, subject: t.id, method: http.MethodPost, path: "/tasks/" + t.id + "/close", keep: true}
}

// selection is the request of the customer that selects a response.
func (r *response) selection() request {
	id := uuid.NewString()
	return request{operation: history.TaskSelect, id: id, of: r.task.id, method: http.MethodPost, path: "/tasks/" + r.task.id + "/select",
		keep: true, noted: true, body: map[string]any{"operation_id": id, "response_id": r.id, "confirmed_total_minor": withFee(r.amount)}}
}

func (a *Agent) noteSelection(t *task, got answer, final bool) {
	if final && got.code != "not_found" { // the response was withdrawn
		t.end()
	}
	if got.succeeded() {
		a.noteOrder(got)
	}
}

func (a *Agent) changeResponse(ctx context.Context, r *response) {
	a.once(ctx, request{operation: history.ResponseUpdate, subject: r.id, of: r.task.id, method: http.MethodPatch,
		path: "/tasks/" + r.task.id + "/responses/" + r.id, keep: true,
		body: map[string]any{"text": fmt.Sprintf("On second thoughts, says %s: %s", a.Handle, uuid.NewString())}})
}

func (a *Agent) withdrawResponse(ctx context.Context, r *response) {
	a.once(ctx, r.withdrawal())
}

func (r *response) withdrawal() request {
	return request{operation: history.ResponseWithdraw, subject: r.id, of: r.task.id, method: http.MethodDelete,
		path: "/tasks/" + r.task.id + "/responses/" + r.id, keep: true}
}

// readTask reads a task of the board.
func (a *Agent) readTask(ctx context.Context) {
	if t, ok := a.w.tasks.draw(a.random, func(*task) bool { return true }); ok {
		a.once(ctx, request{operation: history.TaskGet, subject: t.id, method: http.MethodGet, path: "/tasks/" + t.id, keep: true})
	}
}
