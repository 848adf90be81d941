package socket

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

const (
	// channel carries the notices between processes. A notice is the sender's number, a word, and the ids of agents.
	channel = "stoa_sockets"
	// peerCheck is the interval at which the connection is tested: a connection can die without being closed.
	peerCheck = 5 * time.Second
	// reconnectWait is the maximum pause between attempts to connect. It is shorter than connectWait, so that clients are
	// admitted once the database is back.
	reconnectWait = 250 * time.Millisecond
)

// connectWait is the time for which a client waits for the connection before it is refused.
var connectWait = slack.Of(2 * time.Second)

// Words of notices.
const (
	wordHello    = "hello"
	wordWake     = "wake"     // the listed agents have new events
	wordRecheck  = "recheck"  // events of the listed agents were acknowledged or withdrawn
	wordEveryone = "everyone" // wordRecheck for every agent, and wordTokens
	wordTokens   = "tokens"   // tokens have ended
	// wordDisplace means that a slot of the named process was given to an agent without a slot. The database (stoa_open_socket)
	// sends it, with the sender databaseSender.
	wordDisplace   = "displace"
	databaseSender = "0"
)

// keepPeers keeps the Hub connected to the other processes.
func (h *Hub) keepPeers(ctx context.Context) {
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, reconnectWait) {
		began := time.Now()
		err := h.servePeers(ctx)
		if time.Since(began) > longWait {
			wait = firstWait
		}
		if err != nil {
			h.warnLimited("event socket lost its connection to the database", err)
		}
		pause(ctx, wait)
	}
}

// servePeers connects and serves the connection until it is lost or ctx ends.
func (h *Hub) servePeers(ctx context.Context) error {
	process, err := h.Graph.Events.NewProcess(ctx)
	if err != nil {
		return err
	}
	notices := make(chan *pq.Notification, 64)
	conn, err := db.Listen(h.URL, notices)
	if err != nil {
		return err
	}
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for notice := range notices {
			h.handleNotice(process, notice.Extra)
		}
	}()
	defer func() {
		h.process.Store(0)
		h.queue.alone.Store(false) // another process may start unnoticed
		_ = conn.Close()           // it may be closed already
		<-lost
	}()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()

	greeting := []string{
		"SET synchronous_commit = off",
		"LISTEN " + channel,
		fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", events.ProcessLock, process),
		notice(process, wordHello),
	}
	for _, statement := range greeting {
		if err := db.Execute(conn, statement); err != nil {
			return err
		}
	}
	if err := h.takeSlots(ctx, process); err != nil {
		return err
	}
	notify(h.recheck)
	// Notices sent without a connection are lost, and the new connection may lead to another database.
	h.restart.Store(true)
	notify(h.reconnected)
	check := time.NewTicker(peerCheck)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-lost:
			return conn.Err()
		case <-h.queue.waiting:
			for _, statement := range h.queue.take(process) {
				if err := db.Execute(conn, statement); err != nil {
					return err
				}
			}
		case <-check.C:
			if err := db.Execute(conn, ""); err != nil {
				return err
			}
		}
	}
}

// takeSlots leases the slots of all sessions under a new number and then admits new sessions.
func (h *Hub) takeSlots(ctx context.Context, process int32) error {
	var held []events.Slot
	for _, s := range h.all() {
		held = append(held, s.slot)
	}
	if err := h.Graph.Events.KeepSlots(ctx, process, held); err != nil {
		return err
	}
	h.process.Store(process)
	// The slot of a session that closed meanwhile may have been freed before it was leased again.
	staying := make(map[uuid.UUID]bool, len(held))
	for _, s := range h.all() {
		staying[s.slot.ID] = true
	}
	for _, slot := range held {
		if !staying[slot.ID] {
			h.freeSlot(slot.ID)
		}
	}
	return nil
}

// awaitProcess returns the number under which slots are leased, or 0. If there is no number, it waits for connectWait, since a
// lost connection is usually replaced at once.
func (h *Hub) awaitProcess(ctx context.Context) int32 {
	for end := time.Now().Add(connectWait); ; pause(ctx, firstWait) {
		if process := h.process.Load(); process != 0 || ctx.Err() != nil || time.Now().After(end) {
			return process
		}
	}
}

// handleNotice handles a notice of another process, and ignores an unknown notice.
func (h *Hub) handleNotice(process int32, notice string) {
	words := strings.Fields(notice)
	if len(words) < 2 || words[0] == strconv.Itoa(int(process)) {
		return
	}
	if words[0] == databaseSender {
		if slots := parseIDs(words[2:]); words[1] == wordDisplace && len(slots) == 1 && words[2] == strconv.Itoa(int(process)) {
			h.displace(slots[0], time.Now().Add(2*admitTimeout))
		}
		return
	}
	h.queue.alone.Store(false)
	switch words[1] {
	case wordEveryone:
		h.scheduleAll(pending{recheck: true})
		notify(h.recheck)
	case wordTokens:
		notify(h.recheck)
	case wordWake:
		bots := parseIDs(words[2:])
		h.counts.wakeups.Add(int64(len(bots)))
		h.scheduleFor(bots, pending{fetch: true})
	case wordRecheck:
		h.scheduleFor(parseIDs(words[2:]), pending{recheck: true})
	}
}

// displace closes the session that holds a slot. If none is registered yet, it tries again until the given time.
func (h *Hub) displace(slot uuid.UUID, until time.Time) {
	for _, s := range h.all() {
		if s.slot.ID == slot {
			s.close(errFull)
			return
		}
	}
	if time.Now().Before(until) {
		time.AfterFunc(firstWait, func() { h.displace(slot, until) })
	}
}

func parseIDs(words []string) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(words))
	for _, word := range words {
		if id, err := uuid.Parse(word); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

const (
	// agentsPerNotice is the number of agents that fit into the 8000 bytes of a notification.
	agentsPerNotice = 200
	// maxQueued is the maximum number of notices in the queue; if there are more, one notice for everyone replaces them.
	maxQueued = 50_000
)

// queued is a notice: a word, and the agent that it concerns; uuid.Nil if it concerns no agent.
type queued struct {
	word  string
	agent uuid.UUID
}

// peerQueue holds the notices for the other processes while a statement runs or the connection is lost.
type peerQueue struct {
	mu      sync.Mutex
	notices map[queued]struct{}
	// alone is true if there is no other process; then nothing is queued.
	alone atomic.Bool
	// waiting holds a token while there is something to send.
	waiting chan struct{}
}

// add queues a notice about each agent.
func (q *peerQueue) add(word string, agents ...uuid.UUID) {
	if q.alone.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.notices)+len(agents) > maxQueued {
		q.notices, word, agents = nil, wordEveryone, []uuid.UUID{uuid.Nil}
	}
	if q.notices == nil {
		q.notices = make(map[queued]struct{})
	}
	for _, agent := range agents {
		q.notices[queued{word, agent}] = struct{}{}
	}
	notify(q.waiting)
}

// take empties the queue and returns the statements that send it.
func (q *peerQueue) take(process int32) (statements []string) {
	q.mu.Lock()
	taken := q.notices
	q.notices = nil
	q.mu.Unlock()
	agents := make(map[string][]string)
	for one := range taken {
		agents[one.word] = append(agents[one.word], one.agent.String())
	}
	for _, word := range slices.Sorted(maps.Keys(agents)) {
		for some := range slices.Chunk(agents[word], agentsPerNotice) {
			statements = append(statements, notice(process, word, some...))
		}
	}
	return statements
}

// notice returns the statement that sends a notice. Its words need no quoting.
func notice(process int32, word string, agents ...string) string {
	return "SELECT pg_notify('" + channel + "', '" + strconv.Itoa(int(process)) + " " + word + " " + strings.Join(agents, " ") + "')"
}
