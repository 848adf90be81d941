// Package socket is the event channel (§6): WebSocket connections on which agents learn what has happened.
//
// A session keeps no events of its own. It reads its agent's unacknowledged rows when it opens and whenever it is woken, sends
// those that its connection has not received, and deletes what the client acknowledges before it answers. So a wake-up carries
// no data and may be lost. An event is never lost, is sent once on a connection, and is not sent on a connection that opens
// after its ack was answered. Where an agent has two connections, an event on its way on one may cross the answer on the other.
//
// A session whose window is full of unacknowledged events reads nothing until one of them is settled: by an ack on any
// connection of the agent, on any process, or because it was withdrawn. Every other read begins where the last one ended, not at
// the oldest event (events.Horizon). The requests that many sessions have for the database at the same time share one statement.
//
// An idle session is one goroutine that waits for its socket, and small buffers. Framing, masking, fragments and the close codes
// of broken framing are gorilla/websocket's.
//
// Every process has a Hub, also one that serves no connections: it tells the others whom to wake and that tokens have ended. The
// Hub keeps one connection to PostgreSQL outside the pool, on which it listens, sends notices, and holds the lock that makes its
// slots count. When that connection is lost the sockets stay open; the Hub gets another, takes its slots again and has every
// session read everything again. While the database is away sessions wait for it, and new ones are turned away with 1013.
package socket

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/platform/limits"
)

// Config is what a Hub needs.
type Config struct {
	Graph *graph.Graph
	// URL of the database, for a connection of the Hub's own; not that of a transaction pooler.
	URL string
	// Quotas holds the limits on connections per agent and in all (§8).
	Quotas limits.Quotas
	// Origin is the server's own origin as browsers know it; empty where only the Host header tells.
	Origin string
	// AllowedOrigins are the foreign browser origins that may connect; one * may stand for anything.
	AllowedOrigins []string
	Logger         *slog.Logger
}

// The workers that run the statements of batchers, and how many requests one statement takes.
const (
	fetchWorkers  = 4
	fetchesAtOnce = 32
	ackWorkers    = 2
	acksAtOnce    = 64
	slotsAtOnce   = 256
	// chunksInMemory is how many sessions may hold events in memory at the same time: a chunk each, 400 KB at most.
	chunksInMemory = 64
)

// Hub holds the connections of one process. It is safe for concurrent use.
type Hub struct {
	Config

	// origin is Config.Origin as browsers write it.
	origin string
	// ctx ends with Run.
	ctx  context.Context //nolint:containedctx // sessions outlive the request that opened them
	stop context.CancelFunc

	mu        sync.RWMutex
	sessions  map[uuid.UUID][]*session
	nextRound int
	draining  bool
	// process is the number that slots are leased under; 0 while there is no connection that holds its lock.
	process int32
	// linked is closed while process is set.
	linked chan struct{}
	// open counts sessions that have not finished.
	open sync.WaitGroup

	fetches *batcher[events.Cursor, events.Batch]
	acks    *batcher[[]events.Ack, struct{}]
	slots   *batcher[uuid.UUID, struct{}]
	places  chan struct{}
	// horizon is the sequence up to which every event is visible to a read that begins now.
	horizon atomic.Int64

	queue peerQueue
	// recheck says that tokens may have ended, linkedAnew that the connection to the other processes is a new one.
	recheck    chan struct{}
	linkedAnew chan struct{}
	lastWarned atomic.Int64
	counts     counts
	// writeTimeout is defaultWriteTimeout but in tests.
	writeTimeout time.Duration
}

// New makes a Hub that serves connections once Run runs. The caller sets Wake and TokensEnded in the graph's configuration.
func New(c Config) *Hub {
	h := &Hub{
		Config: c, sessions: make(map[uuid.UUID][]*session), places: make(chan struct{}, chunksInMemory),
		linked: make(chan struct{}), recheck: make(chan struct{}, 1), linkedAnew: make(chan struct{}, 1),
		queue: peerQueue{waiting: make(chan struct{}, 1)}, writeTimeout: defaultWriteTimeout,
	}
	if own, err := url.Parse(c.Origin); err == nil && own.Host != "" {
		h.origin = normalOrigin(own)
	}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.fetches = newBatcher(fetchesAtOnce, c.Graph.Events.Fetch)
	h.acks = newBatcher(acksAtOnce, h.acknowledge)
	h.slots = newBatcher(slotsAtOnce, h.closeSlots)
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
	work(fetchWorkers, h.fetches.work)
	work(ackWorkers, h.acks.work)
	work(1, h.slots.work)
	work(1, h.keepPeers)
	work(1, h.pingPeers)
	work(1, h.checkTokens)
	work(1, func(ctx context.Context) { every(ctx, activityPeriod, h.noteActivity) })
	work(1, h.watchProcesses)
	work(1, h.advanceHorizon)
	err := group.Wait()
	for _, s := range h.all() {
		_ = s.conn.Close()
	}
	return err
}

// Wake tells sessions, on this process and the others, that their agents have new events. It does not block.
func (h *Hub) Wake(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{fetch: true})
	h.queue.add(wordWake, recipients)
}

// Withdrawn tells sessions, on this process and the others, that events of their agents have been deleted. It does not block.
func (h *Hub) Withdrawn(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{recheck: true})
	h.queue.add(wordRecheck, recipients)
}

// TokensEnded tells that tokens or agents have ended, so that every process closes the connections opened with them. It does not
// block.
func (h *Hub) TokensEnded() {
	h.recheckTokens()
	h.queue.addTokensEnded()
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

// warnLimited logs a failure of the database, once a second at most: a thousand sessions meet the same one.
func (h *Hub) warnLimited(what string, err error) {
	now, last := time.Now().UnixNano(), h.lastWarned.Load()
	if now-last < int64(time.Second) || !h.lastWarned.CompareAndSwap(last, now) || h.ctx.Err() != nil {
		return
	}
	h.Logger.WarnContext(h.ctx, what, "error", err)
}

func (h *Hub) acknowledge(ctx context.Context, batches [][]events.Ack) ([]struct{}, error) {
	var all []events.Ack
	for _, batch := range batches {
		all = append(all, batch...)
	}
	h.mu.RLock()
	process := h.process
	h.mu.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	elsewhere, err := h.Graph.Events.Acknowledge(ctx, process, all)
	if len(elsewhere) > 0 {
		h.queue.add(wordRecheck, elsewhere)
	}
	return make([]struct{}, len(batches)), err
}

// closeSlots frees slots, and tries until it has: a lease counts for as long as its process lives.
func (h *Hub) closeSlots(_ context.Context, ids []uuid.UUID) ([]struct{}, error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		ctx, cancel := context.WithTimeout(h.ctx, statementTimeout)
		err := h.Graph.Events.CloseSlots(ctx, ids)
		cancel()
		if err == nil || h.ctx.Err() != nil {
			return make([]struct{}, len(ids)), err
		}
		h.warnLimited("event socket cannot free its slots", err)
		select {
		case <-time.After(wait):
		case <-h.ctx.Done():
		}
	}
}
