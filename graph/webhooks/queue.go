package webhooks

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Scope selects the webhooks for which Queue looks for new events.
type Scope struct {
	// Due: do not look for new events; only add jobs for deliveries that are due already.
	Due bool
	// Agents: only webhooks of these agents; nil means all.
	Agents []uuid.UUID
	// Recent: only webhooks of agents whose newest event is less than a minute old. That costs an index look-up for each.
	Recent bool
	// webhook: only this one.
	webhook *uuid.UUID
}

// The maximum number of events of an agent that one call reads.
const (
	sizeOfRecent = 1_000
	sizeOfAll    = 10_000
	sizeOfOne    = 1_000_000
)

func (s Scope) size() int {
	switch {
	case s.Recent:
		return sizeOfRecent
	case s.webhook != nil:
		return sizeOfOne
	default:
		return sizeOfAll
	}
}

// Queue adds pending deliveries for new events, checks up to 100 webhooks, longest waiting first, and adds the jobs of those with
// due deliveries. Jobs call it every second with Recent, in case wake-ups were lost, and every minute without, to find events
// that agents missed while they were in the trash. It does nothing while webhooks are switched off.
func (a *API) Queue(ctx context.Context, s Scope) error {
	if a.Sender == nil {
		return nil
	}
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error { return a.queue(ctx, tx, s) })
}

func (a *API) queue(ctx context.Context, tx *db.Tx, s Scope) error {
	if !s.Due {
		if err := s.add(ctx, tx); err != nil {
			return err
		}
	}
	looked, err := db.Column[uuid.UUID](ctx, tx.SQL, named("look_due"))
	if err != nil || len(looked) == 0 {
		return err
	}
	due, err := db.All[DeliverJob](ctx, tx.SQL, named("queue_due"), db.IDs(looked))
	if err != nil {
		return err
	}
	for _, job := range due {
		if err := a.InsertJob(ctx, tx, *job); err != nil {
			return err
		}
	}
	return nil
}

// add adds the missing pending deliveries.
func (s Scope) add(ctx context.Context, tx *db.Tx) error {
	if !s.Recent {
		if err := askMissingTests(ctx, tx, s.webhook); err != nil {
			return err
		}
	}
	if !s.Recent && s.webhook == nil {
		if _, err := tx.SQL.ExecContext(ctx, named("look_again").Text); err != nil {
			return err
		}
	}
	_, err := tx.SQL.ExecContext(ctx, named("add_pending").Text, idsOrNull(s.Agents), s.webhook, s.Recent, s.size())
	return err
}

// idsOrNull passes ids as an argument of type uuid[], and nil as null.
func idsOrNull(ids []uuid.UUID) any {
	if ids == nil {
		return nil
	}
	return db.IDs(ids)
}

// wakeups holds the agents with new events until Run queues them.
type wakeups struct {
	mu     sync.Mutex
	agents map[uuid.UUID]bool
	// some wakes Run.
	some chan struct{}
	once sync.Once
}

func (w *wakeups) signal() chan struct{} {
	w.once.Do(func() { w.some = make(chan struct{}, 1) })
	return w.some
}

// maxWoken is the maximum number of agents that wait for Run; the job queues the events of others.
const maxWoken = 10_000

// Wake reports that agents have new events, after the commit. It does not block. Without Run it has no effect.
func (a *API) Wake(agents []uuid.UUID) {
	if a.Sender == nil {
		return
	}
	a.woken.mu.Lock()
	for _, id := range agents {
		if len(a.woken.agents) < maxWoken {
			if a.woken.agents == nil {
				a.woken.agents = make(map[uuid.UUID]bool)
			}
			a.woken.agents[id] = true
		}
	}
	a.woken.mu.Unlock()
	select {
	case a.woken.signal() <- struct{}{}:
	default:
	}
}

// Run queues the new events of agents that Wake named, many agents at once, until ctx ends. The job repeats failed calls.
func (a *API) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.woken.signal():
		}
		a.woken.mu.Lock()
		agents := make([]uuid.UUID, 0, len(a.woken.agents))
		for id := range a.woken.agents {
			agents = append(agents, id)
		}
		clear(a.woken.agents)
		a.woken.mu.Unlock()
		have, err := db.Column[bool](ctx, a.DB.SQL, named("has_webhooks"), db.IDs(agents))
		if err == nil && have[0] {
			_ = a.Queue(ctx, Scope{Agents: agents, Recent: true}) // the job repeats it within a second
		}
	}
}
