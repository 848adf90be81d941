// Package readpool runs searches, and what is read without a token, apart from everything else.
//
// They share their own few connections, whose statements have a second, and a queue in which callers take turns (an agent, or the
// address of a client without a token). So everything else never waits for a search, one caller's searches do not hold up
// another's, and a search that finds too much to do is cut off. Searches are counted against a limit per caller, on the same
// connections.
package readpool

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"

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
	// perCaller and total bound the requests that wait for a connection, longestWait the time.
	perCaller, total = bounds.WaitingSearches, 512
	// retry is the Retry-After for a caller that finds the queue full.
	retry = 2 * time.Second
)

var (
	// StatementTimeout bounds each statement.
	StatementTimeout = slack.Of(time.Second)
	longestWait      = slack.Of(3 * time.Second)
)

// Config holds the settings of a Pool.
type Config struct {
	// Main runs the lists of agents that search for nothing.
	Main *db.DB
	// Reads runs everything else, opened with Options; nil takes Main's connections.
	Reads *db.DB
	// Replica answers what RunStale is given; nil for none.
	Replica *Replica
	Quotas  limits.Quotas
	// Metrics may be nil.
	Metrics *metrics.Reads
}

// Pool runs searches and anonymous reads. It is safe for concurrent use.
type Pool struct {
	Config
	queue *queue
}

// New makes a Pool.
func New(c Config) *Pool {
	if c.Reads == nil {
		c.Reads = c.Main
	}
	p := &Pool{c, newQueue(Connections, perCaller, total)}
	c.Metrics.Waiting(p.queue.waits)
	return p
}

// Options are those to open Config.Reads with, made from the main pool's.
func Options(main db.Options) db.Options {
	main.Connections, main.StatementTimeout = Connections, StatementTimeout
	return main
}

// Run calls read with the connections that are meant for the caller of ctx: the pool's own where it is searching or is no agent.
// A search counts against the limit first. Faults besides those of read: rate_limited (too many searches in a minute, or waiting
// at once) and service_unavailable (too many waiting altogether or for too long, or a statement that took longer than
// StatementTimeout).
func (p *Pool) Run(ctx context.Context, searching bool, read func(ctx context.Context, on db.Querier) error) error {
	return p.run(ctx, searching, nil, read)
}

// RunStale is Run for what may be some seconds old where the caller has no token: then the replica answers, if there is one that is
// not too far behind. read may run twice, since the primary answers what the replica could not. Nothing that must be hidden at once
// may be read so.
func (p *Pool) RunStale(ctx context.Context, searching bool, read func(ctx context.Context, on db.Querier) error) error {
	if viewer.From(ctx).Kind != viewer.Anonymous {
		return p.run(ctx, searching, nil, read)
	}
	return p.run(ctx, searching, p.Replica, read)
}

func (p *Pool) run(
	ctx context.Context, searching bool, replica *Replica, read func(ctx context.Context, on db.Querier) error,
) error {
	v := viewer.From(ctx)
	if v.Kind != viewer.Anonymous && !searching {
		return read(ctx, p.Main.SQL)
	}
	caller := callerOf(v)
	if err := p.enter(ctx, caller); err != nil {
		return err
	}
	defer p.queue.leave()
	if searching {
		if err := p.Quotas.Take(ctx, p.Reads.SQL, limits.Searches, caller); err != nil {
			return err
		}
	}
	if answered, err := replica.answers(ctx, read); answered {
		return err
	}
	err := read(ctx, p.Reads.SQL)
	if timedOut(err) && ctx.Err() == nil {
		p.Metrics.TimedOut()
		return fault.Wrap(fault.ServiceUnavailable, err).Say("This took too long; ask for something rarer, or for an earlier page.")
	}
	return err
}

func (p *Pool) enter(ctx context.Context, caller string) error {
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	switch p.queue.enter(waiting, caller) {
	case callerFull:
		p.Metrics.Refused(metrics.CallerFull)
		return fault.New(fault.RateLimited).After(retry).Say("Too many of your searches and reads are waiting.")
	case full:
		p.Metrics.Refused(metrics.QueueFull)
		return fault.Wrap(fault.ServiceUnavailable, errFull).After(retry)
	case cancelled:
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.Metrics.Refused(metrics.WaitedTooLong)
		return fault.Wrap(fault.ServiceUnavailable, errLate).After(retry)
	default:
		return nil
	}
}

var (
	errFull = errors.New("too many searches and anonymous reads are waiting")
	errLate = errors.New("waited too long for a connection of the searches and anonymous reads")
)

// callerOf is who takes turns and is counted: the agent, or the address of a client without a token.
func callerOf(v viewer.Viewer) string {
	if v.Kind == viewer.Agent {
		return v.BotID.String()
	}
	return v.Address
}

// timedOut reports whether a statement was cut off, by its timeout or that of its locks.
func timedOut(err error) bool {
	refused, ok := errors.AsType[*pq.Error](err)
	return ok && (refused.Code == "57014" || refused.Code == "55P03")
}
