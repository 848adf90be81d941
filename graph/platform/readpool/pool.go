// Package readpool runs searches and anonymous reads separately from all other work.
//
// They share a few connections and a queue in which callers take turns (an agent, or the address of a client without a token). So
// other work never waits for a search, and one caller's searches do not delay another's. A statement that does not finish soon
// starts again on a connection for slow statements, one search and one other read at a time, and is cut off after a second. So
// slow searches delay neither fast ones nor pages. The same connections count searches against a limit per caller.
package readpool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"golang.org/x/sync/semaphore"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
)

const (
	// Connections is the size of the pool of each process.
	Connections = 2
	// LongConnections is the size of its pool for slow statements.
	LongConnections = 2
	// perCaller and total bound the number of requests that wait for a connection, longestWait their time.
	perCaller, total = bounds.WaitingSearches, 512
	// retry is the Retry-After for a caller that finds the queue full.
	retry = 2 * time.Second
)

var (
	// StatementTimeout bounds each statement, soon its first attempt.
	StatementTimeout = slack.Of(time.Second)
	soon             = slack.Of(200 * time.Millisecond)
	longestWait      = slack.Of(3 * time.Second)
)

// Config holds the settings of a Pool.
type Config struct {
	// Main runs the lists of agents without a search.
	Main *db.DB
	// Reads, opened with Options, runs everything else; nil uses Main's connections. Long, opened with LongOptions, runs slow
	// statements.
	Reads, Long *db.DB
	// Replica answers reads of RunStale; nil for none.
	Replica *Replica
	Quotas  limits.Quotas
	// Metrics may be nil.
	Metrics *metrics.Metrics
}

// Pool runs searches and anonymous reads. It is safe for concurrent use.
type Pool struct {
	Config
	// slots are the connections of Reads. Long has one for searches and one for other reads. Waiting requests get them in the
	// order of arrival.
	slots, longSearch, longRead *semaphore.Weighted

	mu      sync.Mutex
	callers map[string]*caller
	waiting int
}

// caller is a caller with requests in the pool. It may use all slots, but only as many of its requests as there are slots wait in
// the queue at once. So many requests of one caller delay another caller's request by only one turn.
type caller struct {
	turns            *semaphore.Weighted
	present, waiting int
}

// New makes a Pool.
func New(c Config) *Pool {
	if c.Reads == nil {
		c.Reads = c.Main
	}
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	p := &Pool{
		Config: c, slots: semaphore.NewWeighted(Connections), longSearch: semaphore.NewWeighted(1), longRead: semaphore.NewWeighted(1),
		callers: make(map[string]*caller),
	}
	c.Metrics.Show(func() []metrics.Value {
		p.mu.Lock()
		defer p.mu.Unlock()
		return []metrics.Value{{Name: "stoa_reads_waiting", Value: float64(p.waiting)}}
	})
	return p
}

// Options returns the options to open Config.Reads with, derived from the main pool's.
func Options(main db.Options) db.Options {
	main.Connections, main.StatementTimeout, main.Silence = Connections, soon, StatementTimeout
	return main
}

// LongOptions returns the options to open Config.Long with, derived from the main pool's.
func LongOptions(main db.Options) db.Options {
	main.Connections, main.StatementTimeout = LongConnections, StatementTimeout
	return main
}

// Run calls read with the connections for the caller of ctx: the pool's own if it searches or is anonymous, or else Main's. In
// the pool, read may run twice. A search first counts against the limit. Besides the faults of read it returns rate_limited (too
// many searches in a minute, or waiting at once) and service_unavailable (too many waiting in total or for too long, or a
// statement that took longer than StatementTimeout).
func (p *Pool) Run(ctx context.Context, searching bool, read func(ctx context.Context, on db.Querier) error) error {
	return p.run(ctx, searching, nil, read)
}

// RunStale is Run for data that may be some seconds old. If the caller has no token, the replica answers, if there is one that is
// not too far behind. read may run twice, since the primary answers if the replica could not. Do not use it for data that must be
// hidden at once.
func (p *Pool) RunStale(ctx context.Context, searching bool, read func(ctx context.Context, on db.Querier) error) error {
	if viewer.From(ctx).Kind != viewer.Anonymous {
		return p.run(ctx, searching, nil, read)
	}
	return p.run(ctx, searching, p.Replica, read)
}

// Way is Run or RunStale.
type Way func(ctx context.Context, searching bool, read func(ctx context.Context, on db.Querier) error) error

// Read is Run or RunStale for a read that has a result.
func Read[T any](
	ctx context.Context, way Way, searching bool, read func(ctx context.Context, on db.Querier) (T, error),
) (found T, err error) {
	err = way(ctx, searching, func(ctx context.Context, on db.Querier) (err error) {
		found, err = read(ctx, on)
		return err
	})
	return found, err
}

// All is Run for the rows of a statement.
func All[T any](ctx context.Context, p *Pool, searching bool, s *db.Statement, args ...any) ([]*T, error) {
	return Read(ctx, p.Run, searching, func(ctx context.Context, on db.Querier) ([]*T, error) { return db.All[T](ctx, on, s, args...) })
}

func (p *Pool) run(
	ctx context.Context, searching bool, replica *Replica, read func(ctx context.Context, on db.Querier) error,
) error {
	v := viewer.From(ctx)
	if v.Kind != viewer.Anonymous && !searching {
		return read(ctx, p.Main.SQL)
	}
	caller := callerOf(v)
	here, err := p.enter(ctx, caller)
	if err != nil {
		return err
	}
	defer here.leave()
	if searching {
		if err := p.Quotas.Take(ctx, p.Reads.SQL, limits.Searches, caller); err != nil {
			return err
		}
	}
	if answered, err := replica.answers(ctx, read); answered {
		return err
	}
	err = read(ctx, p.Reads.SQL)
	if p.Long != nil && timedOut(err) && ctx.Err() == nil {
		if err = here.lengthen(ctx, searching); err == nil {
			err = read(ctx, p.Long.SQL)
		}
	}
	if timedOut(err) && ctx.Err() == nil {
		p.Metrics.ReadTimeouts.Count()
		return fault.Wrap(fault.ServiceUnavailable, err).Say("This took too long; ask for something rarer, or for an earlier page.")
	}
	return err
}

// place is a request's place in the pool.
type place struct {
	pool *Pool
	name string
	*caller
	held *semaphore.Weighted // nil: no slot
}

// enter waits for a slot; leave releases it.
func (p *Pool) enter(ctx context.Context, name string) (*place, error) {
	c, served, err := p.join(name)
	if err != nil {
		return nil, err
	}
	here := &place{p, name, c, p.slots}
	if served {
		return here, nil
	}
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	err = c.turns.Acquire(waiting, 1)
	if err == nil {
		if err = p.slots.Acquire(waiting, 1); err != nil {
			c.turns.Release(1)
		}
	}
	p.mu.Lock()
	c.waiting, p.waiting = c.waiting-1, p.waiting-1
	p.mu.Unlock()
	if err != nil {
		p.part(name, c)
		return nil, p.late(ctx, err)
	}
	return here, nil
}

// lengthen releases the slot and waits for a slot of Long: for searches, or for other reads. The request keeps its caller's turn.
func (h *place) lengthen(ctx context.Context, searching bool) error {
	h.held.Release(1)
	h.held = nil
	long := h.pool.longRead
	if searching {
		long = h.pool.longSearch
	}
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if err := long.Acquire(waiting, 1); err != nil {
		return h.pool.late(ctx, err)
	}
	h.held = long
	return nil
}

func (h *place) leave() {
	if h.held != nil {
		h.held.Release(1)
	}
	h.turns.Release(1)
	h.pool.part(h.name, h.caller)
}

// late returns the error of a failed wait: the request's own if it has ended, or else service_unavailable.
func (p *Pool) late(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.Metrics.Reads.Count(metrics.WaitedTooLong)
	return fault.Wrap(fault.ServiceUnavailable, errors.Join(errLate, err)).After(retry)
}

// join registers a request of a caller. served reports that it has a slot; otherwise it must wait.
func (p *Pool) join(name string) (c *caller, served bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c = p.callers[name]; c == nil {
		c = &caller{turns: semaphore.NewWeighted(Connections)}
	}
	if c.turns.TryAcquire(1) {
		if served = p.slots.TryAcquire(1); !served {
			c.turns.Release(1)
		}
	}
	switch {
	case served:
	case c.waiting >= perCaller:
		p.Metrics.Reads.Count(metrics.CallerFull)
		return nil, false, fault.New(fault.RateLimited).After(retry).Say("Too many of your searches and reads are waiting.")
	case p.waiting >= total:
		p.Metrics.Reads.Count(metrics.QueueFull)
		return nil, false, fault.Wrap(fault.ServiceUnavailable, errFull).After(retry)
	default:
		c.waiting, p.waiting = c.waiting+1, p.waiting+1
	}
	c.present++
	p.callers[name] = c
	return c, served, nil
}

// part removes a request, and with the last request its caller.
func (p *Pool) part(name string, c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.present--; c.present == 0 {
		delete(p.callers, name)
	}
}

var (
	errFull = errors.New("too many searches and anonymous reads are waiting")
	errLate = errors.New("waited too long for a connection of the searches and anonymous reads")
)

// callerOf returns the name of a caller: the agent, or the address of a client without a token.
func callerOf(v viewer.Viewer) string {
	if v.Kind == viewer.Agent {
		return v.BotID.String()
	}
	return v.Address
}

// timedOut reports whether a statement was ended by its statement_timeout or lock_timeout.
func timedOut(err error) bool {
	return pq.As(err, pqerror.QueryCanceled, pqerror.LockNotAvailable) != nil
}
