package tasks

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// The statements of the board as people see it: a task is there while its customer's profile is shown. The board of agents
// leaves out those of deleted customers only.
var (
	selectShown = whereShown(selectTask)
	listShown   = whereShown(listTasks)
	searchShown = search.NewPages(whereShown(statements.Named("search_tasks")))
)

// whereShown is a statement about tasks whose customer's profile is shown.
func whereShown(s *db.Statement) *db.Statement {
	text := strings.NewReplacer("h.state = 'deleted'", "NOT stoa_public(h)", "c.state <> 'deleted'", "stoa_public(c)").Replace(s.Text)
	return &db.Statement{Name: s.Name + "_shown", Types: s.Types, Text: text}
}

// PublicBoard is TaskBoard for the public site (§4.13), without tasks of customers whose profile is not shown. It is never old.
// Faults: invalid_pagination, invalid_input, invalid_search, rate_limited.
func (a *API) PublicBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	f, refused := in.Check()
	var list *TaskList
	err := a.Reads.Run(ctx, search.Requested(in.Q), func(ctx context.Context, on db.Querier) error {
		if refused != nil {
			return refused
		}
		statement, args := listShown, []any{nil, string(f.state), f.n.Offset(), f.n.Limit()}
		if f.q != "" {
			statement, args = searchShown.For(f.n, nil, string(f.state), f.q)
		}
		found, err := db.All[snapshot](ctx, on, statement, args...)
		if err != nil {
			return err
		}
		rows, meta := page.Cut(f.n, found)
		list = &TaskList{Tasks: make([]*Card, len(rows)), Meta: meta}
		for i, s := range rows {
			list.Tasks[i] = newCard(s)
		}
		return nil
	})
	return list, err
}

// PublicTask is Task for the public site (§4.13). Faults: invalid_id, not_found (also where the customer's profile is not
// shown), rate_limited.
func (a *API) PublicTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	var s *snapshot
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		s, err = db.One[snapshot](ctx, on, selectShown, nil, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: newCard(s)}, nil
}

// Reference names a task and tells when it was changed.
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
