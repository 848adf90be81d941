package activity

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Entry is an entry of a list for people, which shows at most MaxOfOne entries of each agent.
type Entry struct {
	ID    uuid.UUID `db:"id"`
	Agent uuid.UUID `db:"agent"`
	// N is the entry's place in the whole list, counted from where reading began; the first has 1.
	N int `db:"n"`
	// Nth is the entry's place among those of its agent: MaxOfOne + 1 says that the agent has more than the list shows, 0 that this
	// row and all after it were not looked at, because rowsWalked rows hold too few entries.
	Nth int `db:"nth"`
}

// IsShown reports whether the list shows the entry.
func (e *Entry) IsShown() bool { return e.Nth > 0 && e.Nth <= MaxOfOne }

// Works finds enough public works to show, newest first, of one kind unless kind is empty. skip is the number of works of the whole
// list before the first. Faults: rate_limited.
func (a *API) Works(ctx context.Context, kind string, skip, enough int) ([]*Entry, error) {
	if kind == "" {
		return a.few(ctx, named("list_few_works"), skip, rowsWalked, MaxOfOne, enough)
	}
	return a.few(ctx, named("list_few_works_of_kind"), kind, skip, rowsWalked, MaxOfOne, enough)
}

// Tasks is as Works, for the tasks in a state that everyone sees.
func (a *API) Tasks(ctx context.Context, state string, skip, enough int) ([]*Entry, error) {
	return a.few(ctx, named("list_few_tasks"), state, skip, rowsWalked, MaxOfOne, enough)
}

// Services is as Works, for the services that everyone sees.
func (a *API) Services(ctx context.Context, skip, enough int) ([]*Entry, error) {
	return a.few(ctx, named("list_few_services"), skip, rowsWalked, MaxOfOne, enough)
}

func (a *API) few(ctx context.Context, s *db.Statement, args ...any) (found []*Entry, err error) {
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		found, err = db.All[Entry](ctx, on, s, args...)
		return err
	})
	return found, err
}
