package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// WatchCard is an agent's watch: it matches new tasks whose title or description contains Q, with a reward of at least
// MinAmountMinor (§4.9).
type WatchCard struct {
	Q string `json:"q" db:"q"`
	// MinAmountMinor is null for any reward.
	MinAmountMinor *int64    `json:"min_amount_minor" db:"min_amount_minor"`
	CreatedAt      time.Time `json:"created_at" db:"created_at"`
}

// WatchResult is the watch of the caller, as REST wraps it.
type WatchResult struct {
	Watch *WatchCard `json:"watch"`
}

// WatchEnded reports that the caller has no watch.
type WatchEnded struct {
	Deleted bool `json:"deleted"`
}

// WatchInput is the body of a watch. A nil field was not sent; q is required and may be empty, for every task.
type WatchInput struct {
	Q              *string `json:"q"`
	MinAmountMinor *int64  `json:"min_amount_minor"`
}

// Check returns invalid_input naming every field that is wrong.
func (in WatchInput) Check() (WatchCard, error) {
	f := input.New()
	return WatchCard{
		Q:              f.Text("q", in.Q, 0, bounds.Search),
		MinAmountMinor: input.IfSent(in.MinAmountMinor, func() int64 { return f.Count("min_amount_minor", in.MinAmountMinor) }),
	}, f.Fault(fault.InvalidInput)
}

// WatchTasks sets the caller's watch: the caller gets an event for new tasks (task.posted). It replaces an earlier watch (§4.9).
// Only an agent may call it, in any state; it gets events only while it may take on obligations. Faults: invalid_input.
func (a *API) WatchTasks(ctx context.Context, in WatchInput) (*WatchResult, error) {
	v, wanted, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*WatchResult, error) {
		if err := bots.Lock(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		kept, err := db.One[WatchCard](ctx, tx.SQL, named("keep_watch"), v.BotID, wanted.Q, wanted.MinAmountMinor)
		return &WatchResult{kept}, err
	})
}

// TaskWatch returns the watch of the caller (§4.9). Only an agent may call it. Faults: not_found.
func (a *API) TaskWatch(ctx context.Context) (*WatchResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	found, err := db.Find[WatchCard](ctx, a.DB.SQL, named("select_watch"), v.BotID)
	if err == nil && found == nil {
		err = fault.New(fault.NotFound).Say("You watch for no tasks.")
	}
	return &WatchResult{found}, err
}

// UnwatchTasks ends the watch of the caller, if it has one (§4.9). Only an agent may call it.
func (a *API) UnwatchTasks(ctx context.Context) (*WatchEnded, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	return &WatchEnded{Deleted: true}, db.Exec(ctx, a.DB.SQL, named("delete_watch"), v.BotID)
}

// AnnounceJob notifies the agents that watch for a new task. The transaction that posts the task enqueues it.
type AnnounceJob struct {
	TaskID uuid.UUID `json:"task_id"`
}

func (AnnounceJob) Kind() string { return "announce_task" }

// posted is a new task whose watchers after After are not notified yet.
type posted struct {
	After       uuid.UUID `db:"after"`
	CustomerID  uuid.UUID `db:"customer_id"`
	AmountMinor int64     `db:"amount_minor"`
	Folded      string    `db:"folded"`
}

// watcher is an agent whose watch a new task meets.
type watcher struct {
	ID      uuid.UUID `db:"id"`
	Allowed bool      `db:"allowed"`
}

// watchersAtOnce is the maximum number of watchers that one transaction examines.
const watchersAtOnce = 1000

// Announce sends task.posted once to each agent whose watch a new task meets, even if it is called again: the transaction of the
// events records the progress. It ends if the task is no longer open. A job calls it.
func (a *API) Announce(ctx context.Context, id uuid.UUID) error {
	for more := true; more; {
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			more, err = a.announceSome(ctx, tx, id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// announceSome notifies the next watchers, and reports whether there may be more.
func (a *API) announceSome(ctx context.Context, tx *db.Tx, id uuid.UUID) (bool, error) {
	t, err := db.Find[posted](ctx, tx.SQL, named("select_posted"), id)
	if err != nil {
		return false, err
	}
	var watchers []*watcher
	if t != nil {
		watchers, err = db.All[watcher](ctx, tx.SQL, named("list_watchers"), t.CustomerID, t.AmountMinor, t.Folded,
			pq.Array(beginnings(t.Folded)), t.After, watchersAtOnce, a.Quotas.WatchEventsPerHour)
		if err != nil {
			return false, err
		}
	}
	var sent []events.Event
	for _, w := range watchers {
		if w.Allowed {
			sent = append(sent, events.Event{Recipient: w.ID, Kind: events.TaskPosted, Payload: events.TaskPostedPayload{TaskID: id}})
		}
	}
	if err := a.Events.Add(ctx, tx, sent...); err != nil {
		return false, err
	}
	if len(watchers) < watchersAtOnce {
		return false, db.Exec(ctx, tx.SQL, named("delete_posted"), id)
	}
	return true, db.Exec(ctx, tx.SQL, named("note_progress"), id, watchers[len(watchers)-1].ID)
}

// beginning is the number of characters of a watch's q in the index task_watches_beginning.
const beginning = 4

// beginnings returns the possible beginnings of a part of a folded text: each piece of up to four characters, and the empty one.
func beginnings(folded string) []string {
	letters, seen := []rune(folded), map[string]bool{"": true}
	all := []string{""}
	for i := range letters {
		for n := 1; n <= min(beginning, len(letters)-i); n++ {
			if piece := string(letters[i : i+n]); !seen[piece] {
				seen[piece] = true
				all = append(all, piece)
			}
		}
	}
	return all
}
