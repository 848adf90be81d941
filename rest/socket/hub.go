// Package socket is the event channel (§6): WebSocket connections on which agents learn what has happened.
//
// A session never keeps events of its own. It reads its agent's unacknowledged rows when it opens and whenever it is woken,
// sends those that its connection has not received, and deletes what the client acknowledges before it answers. So a wake-up
// carries no data and may be lost; an event is lost never, is sent once on a connection, and is not sent on one that opens after
// its ack was answered. Where an agent has two connections, an event on its way on one may cross the answer on the other.
//
// An idle session is one goroutine on the smallest stack, which waits for its socket, and a few hundred bytes: it has no buffers, and
// the library that shook hands is gone. Other goroutines read while there is something to read and write while there is something to
// write. What many sessions ask of the database at the same time goes into one statement.
//
// Every process has a Hub, also one that serves no connections: it tells the others whom to wake and that tokens have ended. The
// Hub keeps one connection to PostgreSQL outside the pool, on which it listens, tells, and holds the lock that makes its slots
// count. When that connection is lost the sockets stay open; the Hub gets another, takes its slots again and wakes everyone. While
// the database is away sessions wait for it, and new ones are turned away with 1013.
package socket

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/limits"
)

// Config is what a Hub needs.
type Config struct {
	Graph *graph.Graph
	// URL of the database, for a connection of the Hub's own; not that of a transaction pooler.
	URL string
	// Quotas holds the limits on connections per agent and in all (§8).
	Quotas limits.Quotas
	// AllowedOrigins are the foreign browser origins that may connect; one * may stand for anything.
	AllowedOrigins []string
	Logger         *slog.Logger
}

// The workers that make statements of what sessions ask for, beside a session that is alone, and the most that one statement takes.
const (
	viewWorkers = 4
	viewsAtOnce = 32
	ackWorkers  = 2
	acksAtOnce  = 64
	slotsAtOnce = 256
	// loadsAtOnce is how many sessions may hold messages in memory at the same time: a chunk each, 400 KB at most.
	loadsAtOnce = 64
)

// Hub holds the connections of one process. It is safe for concurrent use.
type Hub struct {
	Config

	// ctx ends with Run.
	ctx  context.Context //nolint:containedctx // sessions outlive the request that opened them
	stop context.CancelFunc

	mu       sync.RWMutex
	sessions map[uuid.UUID][]*session
	rounds   int
	draining bool
	// process is the number that slots are leased under; 0 while there is no connection that holds its lock.
	process int32
	// linked is closed while process is set.
	linked chan struct{}
	// open counts sessions that have not finished.
	open sync.WaitGroup

	views   *gather[events.Window, events.View]
	acks    *gather[[]events.Ack, struct{}]
	slots   *gather[uuid.UUID, struct{}]
	loading chan struct{}

	mail mail
	// suspicion says that tokens have ended.
	suspicion chan struct{}
	complaint atomic.Int64
	counts    counts
}

// New makes a Hub that serves connections once Run runs. The caller sets Wake and TokensEnded in the graph's configuration.
func New(c Config) *Hub {
	h := &Hub{
		Config: c, sessions: make(map[uuid.UUID][]*session), loading: make(chan struct{}, loadsAtOnce),
		linked: make(chan struct{}), suspicion: make(chan struct{}, 1), mail: mail{waiting: make(chan struct{}, 1)},
	}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.views = newGather(viewsAtOnce, c.Graph.Events.Look)
	h.acks = newGather(acksAtOnce, h.acknowledge)
	h.slots = newGather(slotsAtOnce, h.giveBack)
	return h
}

// Run keeps the Hub going until ctx ends, and then cuts off what is still open; Drain comes before that. It may be called once.
func (h *Hub) Run(ctx context.Context) error {
	defer h.stop()
	defer context.AfterFunc(ctx, h.stop)()
	var group errgroup.Group
	work := func(n int, fn func(context.Context)) {
		for range n {
			group.Go(func() error { fn(h.ctx); return nil })
		}
	}
	work(viewWorkers, h.views.work)
	work(ackWorkers, h.acks.work)
	work(1, h.slots.work)
	work(1, h.keepLink)
	work(1, h.pingPeers)
	work(1, h.checkTokens)
	work(1, func(ctx context.Context) { every(ctx, activityPeriod, h.noteActivity) })
	work(1, h.watchProcesses)
	err := group.Wait()
	for _, s := range h.all() {
		_ = s.gate.Close()
	}
	return err
}

// Wake tells sessions, on this process and the others, that their agents have new events. It does not block.
func (h *Hub) Wake(recipients []uuid.UUID) {
	h.wakeHere(recipients)
	h.mail.wake(recipients)
}

// TokensEnded tells that tokens or agents have ended, so that every process closes the connections opened with them. It does not
// block.
func (h *Hub) TokensEnded() {
	h.suspect()
	h.mail.tokensEnded()
}

// Drain refuses new connections, closes all there are with 1013, spread over a second, and waits until they are closed or ctx
// ends.
func (h *Hub) Drain(ctx context.Context) {
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	const spread = time.Second
	leaving := h.all()
	began := time.Now()
	for i, s := range leaving {
		at := began.Add(spread * time.Duration(i) / time.Duration(len(leaving)))
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
		}
		s.close(errDraining)
	}
	closed := make(chan struct{})
	go func() {
		h.open.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}

// complain logs a failure of the database, once a second at most: a thousand sessions meet the same one.
func (h *Hub) complain(what string, err error) {
	now, last := time.Now().UnixNano(), h.complaint.Load()
	if now-last < int64(time.Second) || !h.complaint.CompareAndSwap(last, now) || h.ctx.Err() != nil {
		return
	}
	h.Logger.WarnContext(h.ctx, what, "error", err)
}

func (h *Hub) acknowledge(ctx context.Context, batches [][]events.Ack) ([]struct{}, error) {
	var all []events.Ack
	for _, batch := range batches {
		all = append(all, batch...)
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return make([]struct{}, len(batches)), h.Graph.Events.Acknowledge(ctx, all)
}

// giveBack frees slots, trying until it has: a lease of a living process would hold its place for ever.
func (h *Hub) giveBack(_ context.Context, ids []uuid.UUID) ([]struct{}, error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		ctx, cancel := context.WithTimeout(h.ctx, statementTimeout)
		err := h.Graph.Events.CloseSlots(ctx, ids)
		cancel()
		if err == nil || h.ctx.Err() != nil {
			return make([]struct{}, len(ids)), err
		}
		h.complain("event socket cannot free its slots", err)
		select {
		case <-time.After(wait):
		case <-h.ctx.Done():
		}
	}
}
