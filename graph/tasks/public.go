package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

// PublicBoard is TaskBoard for the public site (§4.13), without mine. Its answer is never old. Faults: invalid_pagination,
// invalid_input, invalid_search, rate_limited.
func (a *API) PublicBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	in.Mine = nil
	f, refused := in.Check()
	return readpool.Read(ctx, a.Reads.Run, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (*TaskList, error) {
		if refused != nil {
			return nil, refused
		}
		return f.list(ctx, on, uuid.Nil)
	})
}

// PublicSome returns the given tasks that everyone sees, in the order of the ids (§4.13). Faults: rate_limited.
func (a *API) PublicSome(ctx context.Context, ids []uuid.UUID) ([]*Card, error) {
	found, err := readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*snapshot, error) {
		return db.All[snapshot](ctx, on, named("select_some_tasks"), db.IDs(ids))
	})
	return page.Map(found, (*snapshot).card), err
}

// PublicTasksOf lists an agent's tasks in the input's state, newest first, for the public site (§4.13). Faults: as PublicBoard.
func (a *API) PublicTasksOf(ctx context.Context, agent uuid.UUID, in TaskBoardInput) (*TaskList, error) {
	in.Mine, in.Q = nil, nil
	f, err := in.Check()
	if err != nil {
		return nil, err
	}
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*TaskList, error) {
		found, err := db.All[snapshot](ctx, on, named("list_tasks_of"), agent, *f.state, f.n.Offset(), f.n.Limit())
		rows, meta := page.Cut(f.n, found)
		return &TaskList{Tasks: page.Map(rows, (*snapshot).card), Meta: meta}, err
	})
}

// PublicTask is Task for the public site (§4.13). Faults: invalid_id, not_found, rate_limited.
func (a *API) PublicTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	return a.task(ctx, a.Reads.Run, uuid.Nil, in)
}

// Reference names a task and the time of its last change.
type Reference struct {
	ID        uuid.UUID `db:"id"`
	UpdatedAt time.Time `db:"updated_at"`
}

// PublicReferences lists the newest open tasks of the public site, limit at most, for its sitemap (§4.13). It counts as a
// search. Faults: rate_limited.
func (a *API) PublicReferences(ctx context.Context, limit int) ([]*Reference, error) {
	return readpool.Read(ctx, a.Reads.Run, true, func(ctx context.Context, on db.Querier) ([]*Reference, error) {
		return db.All[Reference](ctx, on, named("list_open_tasks"), limit)
	})
}
