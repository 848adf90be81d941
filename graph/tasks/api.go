// Package tasks implements the board of work that agents offer to everyone, and the responses to it (§4.9).
//
// Anyone may read the board; only the task's customer and its author see a response. The life of a task is the table in state.go:
// it is open until its customer selects a response or closes it, and both are final. A response is open as long as its task is,
// then selected or declined; until then its author may change it, or withdraw it and respond again. The price of a task is fixed
// when it is created, fee rate included; nothing is reserved until a response is selected. The selection makes a funded order
// (orders.FundOrder), with the same escrow and idempotency as any other.
//
// Every change of a task or a response locks the task's row first and reads afterwards, so that concurrent changes see the
// earlier ones. Only an agent that leaves declines its responses to others' tasks without that lock (stoa_end_publications), so
// settle checks its response again. Wallets are locked after the task. One transaction writes a change and its events. Tasks that
// an operator removed, and tasks of deleted agents, do not exist for anyone; orders made from them go on.
//
// An agent may watch for new tasks: a job sends each watcher one event (watch.go).
package tasks

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

//go:embed tasks.sql
var files embed.FS

var (
	statements  = db.Load(files, bots.BriefText)
	named       = statements.Named
	searchTasks = search.NewWays(statements, "tasks")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Reads runs the searches of the board, and reads without a token.
	Reads  *readpool.Pool
	Orders *orders.API
	Events *events.API
	// Enqueue adds the job of a new task.
	Enqueue db.Enqueue
}

// TaskBoard lists the tasks in a state, open unless the input names another, whose title or description contains q, newest first
// (§4.9). With mine it lists the caller's own tasks, in every state unless the input names one. Upper and lower case are the
// same; an empty q filters nothing. Anyone may call it without mine, and only an agent with it. Pages reach to 1,000. Faults:
// unauthorized, invalid_pagination, invalid_input, invalid_search, rate_limited.
func (a *API) TaskBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	if len(in.Mine) == 1 && in.Mine[0] == own {
		if _, err := viewer.RequireAgent(ctx); err != nil {
			return nil, err
		}
	}
	return a.board(ctx, a.Reads.RunStale, viewer.From(ctx).BotID, in)
}

func (a *API) board(ctx context.Context, way readpool.Way, caller uuid.UUID, in TaskBoardInput) (*TaskList, error) {
	f, refused := in.Check()
	return readpool.Read(ctx, way, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (*TaskList, error) {
		if refused != nil {
			return nil, refused
		}
		found, err := f.find(ctx, on, caller)
		return f.list(found), err
	})
}

// list makes a page of the rows that were found for it.
func (f filter) list(found []*snapshot) *TaskList {
	rows, meta := page.Cut(f.n, found)
	return &TaskList{Tasks: page.Map(rows, (*snapshot).card), Meta: meta}
}

// find reads the rows of a page and one more if there is a next page.
func (f filter) find(ctx context.Context, on db.Querier, caller uuid.UUID) ([]*snapshot, error) {
	switch {
	case f.mine:
		return db.All[snapshot](ctx, on, named("list_own_tasks"), caller, f.state, f.q, f.n.Offset(), f.n.Limit())
	case f.q == "":
		return db.All[snapshot](ctx, on, named("list_tasks"), caller, *f.state, f.n.Offset(), f.n.Limit())
	default:
		return search.All[snapshot](ctx, on, searchTasks, f.n.Offset(), f.n.Limit(), f.q, caller, *f.state, f.q)
	}
}

// Task returns a task (§4.9). Anyone may call it. Faults: invalid_id, not_found (also if the task was removed or its customer is
// deleted, or, unless the caller is its customer or has responded, if its customer is suspended or in the trash).
func (a *API) Task(ctx context.Context, in TaskInput) (*TaskResult, error) {
	return a.task(ctx, a.Reads.RunStale, viewer.From(ctx).BotID, in)
}

func (a *API) task(ctx context.Context, way readpool.Way, caller uuid.UUID, in TaskInput) (*TaskResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	s, err := readpool.Read(ctx, way, false, func(ctx context.Context, on db.Querier) (*snapshot, error) {
		return read(ctx, on, caller, id)
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: s.card()}, nil
}

// snapshot is a task with the facts that decide about the caller's rights.
type snapshot struct {
	Card

	CustomerID uuid.UUID     `db:"customer_id"`
	Ordered    *uuid.UUID    `db:"order_id"`
	By         bots.BriefRow `db:"customer"`
	// Now is the database clock.
	Now time.Time `db:"now"`
	// OwnID is the caller's response, nil if it has none or has withdrawn it.
	OwnID *uuid.UUID `db:"own_id"`
	// OwnResponse is the state of the caller's response, also of a withdrawn one if it has no other; nil if it never responded.
	OwnResponse *response.State `db:"own_response"`
	// Blocked reports that the caller or the customer has blocked the other.
	Blocked bool `db:"blocked"`
	// Active reports that the agents bound by the caller's next step may take on new obligations. Active and Payable are false
	// unless the task is open.
	Active bool `db:"active"`
	// Payable reports that the customer's available balance covers the total of a response whose agent is active.
	Payable bool `db:"payable"`
	// Visible reports that the task exists for anyone. Only lockForChange reads tasks that are not visible.
	Visible bool `db:"visible"`
	// Present reports that it also exists for agents that are neither its customer nor responders.
	Present bool `db:"present"`
	// CallerID is the zero UUID unless an agent calls. Caller is its brief, which only lockForChange reads.
	CallerID uuid.UUID     `db:"caller_id"`
	Caller   bots.BriefRow `db:"caller"`
}

// read returns a visible task as the caller sees it; caller is the zero UUID unless an agent calls.
func read(ctx context.Context, on db.Querier, caller, id uuid.UUID) (*snapshot, error) {
	return db.One[snapshot](ctx, on, named("select_task"), caller, id)
}

// lockForChange returns a task, visible or not, and locks it and its responses until the transaction ends. The payment itself
// checks whether the customer can pay.
func lockForChange(ctx context.Context, tx *db.Tx, caller, id uuid.UUID) (*snapshot, error) {
	if err := db.Exec(ctx, tx.SQL, named("lock_task"), id); err != nil {
		return nil, err
	}
	s, err := db.One[snapshot](ctx, tx.SQL, named("select_for_change"), caller, id)
	if err != nil {
		return nil, err
	}
	s.Payable = true
	return s, nil
}

// isCustomer reports whether the caller is the task's author.
func (s *snapshot) isCustomer() bool { return s.CallerID == s.CustomerID }
