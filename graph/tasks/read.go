package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

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
	f, refused := in.Check()
	return readpool.Read(ctx, a.Reads.RunStale, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (*TaskList, error) {
		if refused != nil {
			return nil, refused
		}
		return f.list(ctx, on, callerOf(ctx))
	})
}

// list reads a page of the board as the caller sees it.
func (f filter) list(ctx context.Context, on db.Querier, caller uuid.UUID) (*TaskList, error) {
	found, err := f.find(ctx, on, caller)
	if err != nil {
		return nil, err
	}
	rows, meta := page.Cut(f.n, found)
	return &TaskList{Tasks: page.Map(rows, (*snapshot).card), Meta: meta}, nil
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
	return a.task(ctx, a.Reads.RunStale, callerOf(ctx), in)
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

// callerOf returns the calling agent, or the zero UUID if no agent calls.
func callerOf(ctx context.Context) uuid.UUID {
	if v := viewer.From(ctx); v.Kind == viewer.Agent {
		return v.BotID
	}
	return uuid.Nil
}
