// Package socket is the event channel (§6): the connections on which agents receive their events.
//
// There are three kinds. A socket (WebSocket) and a stream (server-sent events) are sessions, which send what comes; a poll waits for
// events and is answered once. Each holds a slot. A session stores no events. It reads its agent's unacknowledged rows when it opens
// and whenever it is woken, and sends those that its connection has not received; what the client acknowledges is deleted before
// that is answered. So a wake-up carries no data and may be lost. An event is never lost, is sent once on a connection, and is not
// sent on a connection that opens after its ack was answered. Where an agent has two connections, an event may still be sent on one
// while its ack is answered on the other.
//
// A session whose window is full of unacknowledged events reads nothing until one of them is settled: acknowledged on any connection
// or by a request of the agent, on any process, or withdrawn. Every other read begins where the last one ended, not at the oldest
// event (events.Horizon). Sessions and polls that need the database at the same time share one statement (batcher).
//
// An idle session or poll is one goroutine that waits for its client, and small buffers: streams and polls are connections that were
// taken over from net/http. gorilla/websocket does the framing, masking, fragments and the close codes of broken framing.
//
// Every process has a Hub, also one that serves no connections: it notifies the others of agents to wake and of ended tokens. The
// Hub keeps one connection to PostgreSQL outside the pool, on which it listens, sends notices, and holds the lock without which
// its slots do not count. When that connection is lost the sockets stay open; the Hub opens another, leases its slots again and
// has every session read everything again. While the database is away sessions wait for it, and new ones are refused with 1013,
// streams and polls with service_unavailable.
package socket

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/web"
)

// Config holds the settings and dependencies of a Hub.
type Config struct {
	Graph *graph.Graph
	// URL of the database, for a connection of the Hub's own; not that of a transaction pooler.
	URL string
	// Quotas holds the limits on connections per agent and of all processes (§8).
	Quotas limits.Quotas
	// Origin is the server's own origin as browsers know it; empty if it has none.
	Origin string
	// AllowedOrigins are the foreign browser origins that may connect; one * may stand for anything.
	AllowedOrigins []string
	// PingInterval is how often a peer is pinged; 0 means 30 s.
	PingInterval time.Duration
	Logger       *slog.Logger
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

// receiver holds a slot and gets its agent's events: a session or a poll. Its methods may be called from any goroutine and do not
// block.
type receiver interface {
	// place is the slot that it holds.
	place() events.Slot
	// pingDue reports whether it is to be pinged in a round of the ping interval.
	pingDue(round int) bool
	// schedule adds work.
	schedule(work pending)
	// settleAll reports that events are acknowledged.
	settleAll(ids []uuid.UUID)
	// close ends it for a reason, abandon without a word.
	close(reason closeReason)
	abandon()
}

// Hub holds the connections of one process. It is safe for concurrent use.
type Hub struct {
	Config

	origins web.Origins
	// ctx ends with Run.
	ctx  context.Context //nolint:containedctx // sessions outlive the request that opened them
	stop context.CancelFunc

	mu        sync.RWMutex
	receivers map[uuid.UUID][]receiver
	draining  bool
	// process is the number that slots are leased under; 0 while there is no connection that holds its lock.
	process int32
	// connected is closed while process is set.
	connected chan struct{}
	// open counts receivers that have not finished.
	open sync.WaitGroup

	fetches *batcher[events.Cursor, events.Batch]
	acks    *batcher[[]events.Ack, struct{}]
	slots   *batcher[uuid.UUID, struct{}]
	// chunks holds a value for each session that has events in memory.
	chunks chan struct{}
	// horizon is the sequence up to which every event is visible to a read that begins now.
	horizon atomic.Int64

	queue peerQueue
	// recheck says that tokens may have ended, reconnected that the connection to the other processes is a new one.
	recheck     chan struct{}
	reconnected chan struct{}
	lastWarned  atomic.Int64
	counts      counts
	// writeTimeout, releaseTimeout and streamLife are the defaults except in tests.
	writeTimeout, releaseTimeout, streamLife time.Duration
}

// New makes a Hub that serves connections once Run runs. The caller sets Wake, Withdrawn, Acknowledged and TokensEnded in the graph's
// configuration.
func New(c Config) *Hub {
	h := &Hub{
		Config: c, origins: web.NewOrigins(c.Origin, c.AllowedOrigins), receivers: make(map[uuid.UUID][]receiver),
		chunks:    make(chan struct{}, chunksInMemory),
		connected: make(chan struct{}), recheck: make(chan struct{}, 1), reconnected: make(chan struct{}, 1),
		queue: peerQueue{waiting: make(chan struct{}, 1)}, writeTimeout: defaultWriteTimeout,
		releaseTimeout: defaultReleaseTimeout, streamLife: defaultStreamLife,
	}
	if c.PingInterval == 0 {
		h.PingInterval = defaultPingInterval
	}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.fetches = newBatcher(fetchesAtOnce, c.Graph.Events.Fetch)
	h.acks = newBatcher(acksAtOnce, h.acknowledge)
	h.slots = newBatcher(slotsAtOnce, h.closeSlots)
	return h
}

// Run serves until ctx ends, and then closes what is still open; call Drain before that. It may be called once.
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
	for _, r := range h.all() {
		r.abandon()
	}
	return err
}

// Wake notifies sessions, on this process and the others, that their agents have new events. It does not block.
func (h *Hub) Wake(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{fetch: true})
	h.queue.add(wordWake, recipients)
}

// Withdrawn notifies sessions, on this process and the others, that events of their agents have been deleted. It does not block.
func (h *Hub) Withdrawn(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{recheck: true})
	h.queue.add(wordRecheck, recipients)
}

// Acknowledged notifies connections, on this process and the others, that their agent has acknowledged events by a request. It
// does not block.
func (h *Hub) Acknowledged(recipient uuid.UUID, ids []uuid.UUID) {
	h.settle(recipient, ids)
	h.queue.add(wordRecheck, []uuid.UUID{recipient})
	h.counts.acknowledged.Add(int64(len(ids)))
}

// TokensEnded reports that tokens or agents have ended, so that every process closes the connections opened with them. It does
// not block.
func (h *Hub) TokensEnded() {
	h.recheckTokens()
	h.queue.addTokensEnded()
}

// Drain refuses new connections, closes all there are, spread over a second, and waits until they are closed or ctx ends. Sockets
// are closed with 1013; polls are answered.
func (h *Hub) Drain(ctx context.Context) {
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	const spread = time.Second
	leaving := h.all()
	began := time.Now()
	for i, r := range leaving {
		at := began.Add(spread * time.Duration(i) / time.Duration(len(leaving)))
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
		}
		r.close(errDraining)
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

func (h *Hub) isDraining() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.draining
}

// warnLimited logs a failure of the database, once a second at most: a thousand sessions meet the same one.
func (h *Hub) warnLimited(what string, err error) {
	now, last := time.Now().UnixNano(), h.lastWarned.Load()
	if now-last < int64(time.Second) || !h.lastWarned.CompareAndSwap(last, now) || h.ctx.Err() != nil {
		return
	}
	h.Logger.WarnContext(h.ctx, what, "error", err)
}

// register adds a receiver, unless the Hub is draining or the process has lost the number under which the slot was leased.
func (h *Hub) register(r receiver, process int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining || process != h.process || h.ctx.Err() != nil {
		return false
	}
	agent := r.place().BotID
	h.receivers[agent] = append(h.receivers[agent], r)
	h.counts.opened.Add(1)
	h.open.Add(1)
	return true
}

// unregister removes a receiver and frees its slot. It waits a moment for that, so that a client that sees its connection closed can
// open another one.
func (h *Hub) unregister(r receiver) {
	slot := r.place()
	if slot.ID == uuid.Nil {
		return
	}
	h.mu.Lock()
	siblings := h.receivers[slot.BotID]
	if i := slices.Index(siblings, r); i >= 0 {
		// A new slice, because others may be iterating over the old one.
		if siblings = slices.Concat(siblings[:i], siblings[i+1:]); len(siblings) == 0 {
			delete(h.receivers, slot.BotID)
		} else {
			h.receivers[slot.BotID] = siblings
		}
	}
	h.mu.Unlock()
	select {
	case <-h.slots.submit(slot.ID).done:
	case <-time.After(h.releaseTimeout):
	case <-h.ctx.Done():
	}
}

// finished counts the end of a receiver, or of a refused session, which has no slot, once its connection is closed.
func (h *Hub) finished(slot events.Slot, last closeReason) {
	h.counts.closed(last.code)
	if slot.ID != uuid.Nil {
		h.open.Done()
	}
}

// siblings returns the receivers of an agent. The caller must not change the slice.
func (h *Hub) siblings(bot uuid.UUID) []receiver {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.receivers[bot]
}

// all returns every receiver.
func (h *Hub) all() []receiver {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]receiver, 0, len(h.receivers))
	for _, siblings := range h.receivers {
		list = append(list, siblings...)
	}
	return list
}

// count returns how many receivers there are.
func (h *Hub) count() (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, siblings := range h.receivers {
		n += len(siblings)
	}
	return n
}

// scheduleFor gives work to the receivers of agents on this process.
func (h *Hub) scheduleFor(bots []uuid.UUID, work pending) {
	for _, bot := range bots {
		for _, r := range h.siblings(bot) {
			r.schedule(work)
		}
	}
}

// scheduleAll gives work to every receiver of this process.
func (h *Hub) scheduleAll(work pending) {
	for _, r := range h.all() {
		r.schedule(work)
	}
}

// settle notifies all receivers of an agent that events are acknowledged.
func (h *Hub) settle(bot uuid.UUID, ids []uuid.UUID) {
	for _, r := range h.siblings(bot) {
		r.settleAll(ids)
	}
}

// slotsHeld lists the slots of all receivers.
func (h *Hub) slotsHeld() []events.Slot {
	receivers := h.all()
	slots := make([]events.Slot, len(receivers))
	for i, r := range receivers {
		slots[i] = r.place()
	}
	return slots
}
