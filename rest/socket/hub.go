// Package socket is the event channel (§6): the connections on which agents receive their events.
//
// There are three kinds. A socket (WebSocket) and a stream (server-sent events) send events as they come; a poll waits for events
// and is answered once. Each is a session, which holds a slot and stores no events. It reads its agent's unacknowledged
// rows when it opens and whenever it is woken, and sends the events that its connection has not received. It deletes an
// acknowledged event before it answers the ack. So a wake-up carries no data and may be lost. An event is never lost, is sent
// once on a connection, and is not sent on a connection that opens after its ack was answered. If an agent has two connections,
// an event may still be sent on one while its ack is answered on the other.
//
// A session whose window is full of unacknowledged events reads nothing until an event of the window is settled: withdrawn, or
// acknowledged on any connection or by a request, on any process. Every other read begins where the last read ended, not at the
// oldest event (events.Horizon). Only a few sessions and polls of a process use the database at the same time.
//
// Streams and polls are ordinary request handlers. A socket has two goroutines, a reader and a writer; gorilla/websocket does the
// framing, masking, fragments and the close codes for broken framing.
//
// Every process has a Hub, even if it serves no connections: it notifies the others of agents to wake and of ended tokens. The
// Hub keeps one connection to PostgreSQL outside the pool. On it the Hub listens, sends notices, and holds the lock that makes
// its slots count. Notices go out after the commit: a transaction with a NOTIFY locks the whole cluster until its fsync, which
// reduced sends to a third. If that connection is lost, the sockets stay open; the Hub opens another, leases its slots again and
// makes every session read everything again. While the database is away, sessions wait for it; new sockets are refused with 1013,
// streams and polls with service_unavailable.
package socket

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
)

// Config holds the settings and dependencies of a Hub.
type Config struct {
	// Graph must be set before Run and the first request. Its configuration names the Hub as its Sockets.
	Graph *graph.Graph
	// URL is of the database, for the Hub's own connection; it must not lead to a transaction pooler.
	URL string
	// Quotas holds the limits on connections per agent and in all processes (§8).
	Quotas limits.Quotas
	// Origin is the server's own origin in browsers; empty if it has none.
	Origin string
	// AllowedOrigins are the foreign browser origins that may connect; one * may stand for anything.
	AllowedOrigins []string
	// PingInterval is how often a peer is pinged; 0 means 30 s.
	PingInterval time.Duration
	Logger       *slog.Logger
}

// statementsAtOnce is the number of sessions and polls that use the database at the same time, so that requests find connections.
const statementsAtOnce = 4

// Waits between attempts while the database is away.
const (
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second
)

// statementTimeout bounds each statement here. It is longer than the statement_timeout of a connection, so PostgreSQL has ended
// the statement by then, even if its answer is lost.
var statementTimeout = slack.Of(5 * time.Second)

// Hub holds the connections of one process. It is safe for concurrent use.
type Hub struct {
	Config

	origins web.Origins
	// ctx ends with Run.
	ctx  context.Context //nolint:containedctx // sessions outlive the request that opened them
	stop context.CancelFunc

	mu sync.RWMutex
	// sessions are the open sessions, by agent. register reads draining and process under mu, so that code that sets either and
	// then calls all sees every session that was registered before.
	sessions map[uuid.UUID][]*session
	draining atomic.Bool
	// process is the number under which slots are leased; 0 while no connection holds its lock.
	process atomic.Int32
	// open counts sessions that have not finished.
	open sync.WaitGroup

	// statements holds a value for each running statement of a session or poll.
	statements chan struct{}
	// horizon is the sequence up to which every event is visible to a read that begins now.
	horizon atomic.Int64
	// Each of these fields is used by one goroutine of Run: pingPeers, watchProcesses, advanceHorizon.
	round    int
	known    []int32
	progress events.Horizon

	queue peerQueue
	// recheck signals that tokens may have ended, reconnected that the connection to the other processes is new; restart reports
	// the same to advanceHorizon.
	recheck, reconnected chan struct{}
	restart              atomic.Bool
	lastWarned           atomic.Int64
	counts               counts
	// writeTimeout, releaseTimeout and streamLife are the defaults except in tests.
	writeTimeout, releaseTimeout, streamLife time.Duration
}

// New makes a Hub that serves connections once Run runs.
func New(c Config) *Hub {
	h := &Hub{
		Config: c, origins: web.NewOrigins(c.Origin, c.AllowedOrigins), sessions: make(map[uuid.UUID][]*session),
		statements: make(chan struct{}, statementsAtOnce), recheck: make(chan struct{}, 1), reconnected: make(chan struct{}, 1),
		queue: peerQueue{waiting: make(chan struct{}, 1)}, writeTimeout: defaultWriteTimeout,
		releaseTimeout: defaultReleaseTimeout, streamLife: defaultStreamLife,
	}
	if c.PingInterval == 0 {
		h.PingInterval = defaultPingInterval
	}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Run serves until ctx ends, and then cuts off open connections; call Drain before that. Run may be called once.
func (h *Hub) Run(ctx context.Context) error {
	defer h.stop()
	defer context.AfterFunc(ctx, h.stop)()
	var group errgroup.Group
	for _, work := range []func(context.Context){
		h.keepPeers,
		every(h.PingInterval/2, nil, h.pingPeers),
		every(tokenPeriod, h.recheck, h.checkTokens),
		every(activityPeriod, nil, h.noteActivity),
		every(processPeriod, nil, h.watchProcesses),
		every(horizonPeriod, h.reconnected, h.advanceHorizon),
	} {
		group.Go(func() error { work(h.ctx); return nil })
	}
	return group.Wait()
}

// Wake notifies sessions, on this process and the others, that their agents have new events. It does not block.
func (h *Hub) Wake(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{fetch: true})
	h.queue.add(wordWake, recipients...)
}

// Withdrawn notifies sessions, on this process and the others, that events of their agents have been deleted. It does not block.
func (h *Hub) Withdrawn(recipients []uuid.UUID) {
	h.scheduleFor(recipients, pending{recheck: true})
	h.queue.add(wordRecheck, recipients...)
}

// Acknowledged notifies connections, on this process and the others, that their agent has acknowledged events. It does not block.
func (h *Hub) Acknowledged(recipient uuid.UUID, ids []uuid.UUID) {
	h.settle(recipient, ids)
	h.queue.add(wordRecheck, recipient)
	h.counts.acknowledged.Add(int64(len(ids)))
}

// TokensEnded reports that tokens or agents have ended, so that every process closes the connections opened with them. It does
// not block.
func (h *Hub) TokensEnded() {
	notify(h.recheck)
	h.queue.add(wordTokens, uuid.Nil)
}

// notify puts a token into a channel with room for one, without blocking.
func notify(waiting chan<- struct{}) {
	select {
	case waiting <- struct{}{}:
	default:
	}
}

// Drain refuses new connections, closes all open ones, spread over a second, and waits until they are closed or ctx ends. Sockets
// are closed with 1013; polls are answered.
func (h *Hub) Drain(ctx context.Context) {
	h.draining.Store(true)
	leaving := h.all()
	for i, s := range leaving {
		if i > 0 {
			pause(ctx, time.Second/time.Duration(len(leaving)))
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

// fetch reads events for a session or a poll.
func (h *Hub) fetch(ctx context.Context, c events.Cursor) (batch events.Batch, err error) {
	h.counts.fetched.Add(1)
	err = h.inTurn(ctx, func(ctx context.Context) (err error) {
		batch, err = h.Graph.Events.Fetch(ctx, c)
		return err
	})
	return batch, err
}

// inTurn waits until fewer than statementsAtOnce other statements run, and then runs a statement.
func (h *Hub) inTurn(ctx context.Context, statement func(context.Context) error) error {
	select {
	case h.statements <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.statements }()
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return statement(ctx)
}

// warnLimited logs a database failure, at most once a second, because all sessions report the same failure.
func (h *Hub) warnLimited(failure string, err error) {
	now, last := time.Now().UnixNano(), h.lastWarned.Load()
	if now-last < int64(time.Second) || !h.lastWarned.CompareAndSwap(last, now) || h.ctx.Err() != nil {
		return
	}
	h.Logger.WarnContext(h.ctx, failure, "error", err)
}

// siblings returns the sessions of an agent. The caller must not change the slice.
func (h *Hub) siblings(bot uuid.UUID) []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[bot]
}

// all returns every session.
func (h *Hub) all() (list []*session) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, siblings := range h.sessions {
		list = append(list, siblings...)
	}
	return list
}

// scheduleFor gives work to the sessions of agents on this process.
func (h *Hub) scheduleFor(bots []uuid.UUID, work pending) {
	for _, bot := range bots {
		for _, s := range h.siblings(bot) {
			s.schedule(work)
		}
	}
}

// scheduleAll gives work to every session of this process.
func (h *Hub) scheduleAll(work pending) {
	for _, s := range h.all() {
		s.schedule(work)
	}
}

// settle notifies all sessions of an agent that events are acknowledged.
func (h *Hub) settle(bot uuid.UUID, ids []uuid.UUID) {
	for _, s := range h.siblings(bot) {
		s.settle(ids)
	}
}

// counts holds the figures of this process since its start.
type counts struct {
	opened, delivered, acknowledged, wakeups atomic.Int64
	// fetched counts batches that sessions and polls have read.
	fetched   atomic.Int64
	processes atomic.Int64
	byCode    [len(codes)]atomic.Int64
}

// closed counts a closed connection; a code that is not in codes counts as a broken connection.
func (c *counts) closed(code int) { c.byCode[max(0, slices.Index(codes[:], code))].Add(1) }

// Figures returns the figures of this process since its start, for /metrics. They are not an atomic snapshot.
func (h *Hub) Figures() []metrics.Value {
	c := &h.counts
	figures := []metrics.Value{
		{Name: "stoa_sockets_open", Value: float64(len(h.all()))},
		{Name: "stoa_sockets_limit", Value: float64(h.Quotas.Sockets)},
		{Name: "stoa_sockets_opened_total", Value: float64(c.opened.Load())},
		{Name: "stoa_events_delivered_total", Value: float64(c.delivered.Load())},
		{Name: "stoa_events_acknowledged_total", Value: float64(c.acknowledged.Load())},
		{Name: "stoa_wakeups_heard_total", Value: float64(c.wakeups.Load())},
		{Name: "stoa_processes", Value: float64(c.processes.Load())},
		{Name: "stoa_sockets_linked", Value: metrics.Flag(h.process.Load() != 0)},
	}
	for i, code := range codes {
		n := float64(c.byCode[i].Load())
		figures = append(figures, metrics.Value{Name: "stoa_sockets_closed_total", Value: n, Labels: []string{strconv.Itoa(code)}})
	}
	return figures
}
