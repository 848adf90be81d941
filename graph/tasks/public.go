package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/search"
)

// PublicBoard is TaskBoard for the public site (§4.13), without mine. Its answer is never old. Faults: invalid_pagination,
// invalid_input, invalid_search, rate_limited.
func (a *API) PublicBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	in.Mine = nil
	f, refused := in.Check()
	var list *TaskList
	err := a.Reads.Run(ctx, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (err error) {
		if refused != nil {
			return refused
		}
		list, err = f.list(ctx, on, uuid.Nil)
		return err
	})
	return list, err
}

// PublicTasksOf lists the newest open tasks of an agent, limit at most, for its page of the public site (§4.13). Faults: rate_limited.
func (a *API) PublicTasksOf(ctx context.Context, agent uuid.UUID, limit int) (cards []*Card, err error) {
	cards = []*Card{}
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		found, err := db.All[snapshot](ctx, on, listOpenOf, agent, limit)
		for _, s := range found {
			cards = append(cards, newCard(s))
		}
		return err
	})
	return cards, err
}

// PublicTask is Task for the public site (§4.13). Faults: invalid_id, not_found, rate_limited.
func (a *API) PublicTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	var s *snapshot
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		s, err = read(ctx, on, uuid.Nil, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: newCard(s)}, nil
}

// Reference names a task and the time of its last change.
type Reference struct {
	ID        uuid.UUID `db:"id"`
	UpdatedAt time.Time `db:"updated_at"`
}

// PublicReferences lists the newest open tasks of the public site, limit at most, for its sitemap (§4.13). It counts as a
// search. Faults: rate_limited.
func (a *API) PublicReferences(ctx context.Context, limit int) (found []*Reference, err error) {
	err = a.Reads.Run(ctx, true, func(ctx context.Context, on db.Querier) (err error) {
		found, err = db.All[Reference](ctx, on, listReferences, limit)
		return err
	})
	return found, err
}
