package socket

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// chunk is the number of new events that are read and sent at once. It is small, so that sent events were just read, and a
// session holds at most 400 KB of messages in memory.
const chunk = 16

// session is one open connection of an agent, with its pending work and its received events. Only the goroutine of serve sends
// events and answers to acks. A poll is a session without a link: it is woken, reads and is answered.
type session struct {
	hub  *Hub
	link link
	// slot changes only before the session is registered.
	slot    events.Slot
	version int
	// pingRounds is the number of rounds between two pings; 0 for none.
	pingRounds int
	// skipOwn is true if events about the agent's own acts are acknowledged instead of sent.
	skipOwn bool
	// ctx ends when the session is closed; its cause is the closeReason. Only the first reason counts.
	ctx    context.Context //nolint:containedctx // a session outlives the request that opened it
	cancel context.CancelCauseFunc
	// woken holds a token if serve has to check for work.
	woken    chan struct{}
	position position

	mu       sync.Mutex
	pending  pending
	inflight inflight
	// loading is true while events are read or sent; the events in settledWhileLoading must not be sent any more.
	loading             bool
	settledWhileLoading []uuid.UUID
}

// link is the connection that a session writes to: a WebSocket, or a stream of server-sent events. An error means that the client
// cannot be written to any more.
type link interface {
	// frame encodes an event for the connection.
	frame(e *events.Queued) []byte
	// write sends the frame of an event or of an acknowledgement, ping a keep-alive.
	write(frame []byte) error
	ping() error
}

// pending is the work of a session.
type pending struct {
	fetch   bool // there may be new events
	recheck bool // events in flight may be gone, and any event may be new
	ping    bool
	acks    []uuid.UUID // events whose acks need an answer
}

func (p *pending) add(more pending) {
	p.fetch = p.fetch || more.fetch
	p.recheck = p.recheck || more.recheck
	p.ping = p.ping || more.ping
	p.acks = append(p.acks, more.acks...)
}

func (p *pending) empty() bool { return !p.fetch && !p.recheck && !p.ping && len(p.acks) == 0 }

// begin initializes a session that is not admitted yet.
func (s *session) begin(h *Hub, l link, pingRounds int) {
	s.hub, s.link, s.pingRounds, s.version, s.woken = h, l, pingRounds, events.FirstVersion, make(chan struct{}, 1)
	s.ctx, s.cancel = context.WithCancelCause(h.ctx)
}

func (s *session) close(reason closeReason) { s.cancel(reason) }

// reasonOfEnd returns why a session was closed; errBroken if its client has left or the Hub has stopped.
func reasonOfEnd(ctx context.Context) closeReason {
	reason, _ := context.Cause(ctx).(closeReason) //nolint:errorlint // it was never wrapped
	return reason
}

func (s *session) schedule(work pending) {
	s.mu.Lock()
	s.pending.add(work)
	s.mu.Unlock()
	notify(s.woken)
}

// settle makes room for other events. A poll that waits has received none.
func (s *session) settle(ids []uuid.UUID) {
	if s.link == nil {
		return
	}
	s.mu.Lock()
	for _, id := range ids {
		s.inflight.settle(id)
	}
	if s.loading {
		s.settledWhileLoading = append(s.settledWhileLoading, ids...)
	}
	s.mu.Unlock()
	notify(s.woken)
}

// serve sends events and answers acks until the session is closed. While the database is away it tries again.
func (s *session) serve() {
	for wait := firstWait; s.await(); {
		err := s.work()
		if err == nil {
			wait = firstWait
			continue
		}
		s.hub.warnLimited("event socket cannot read or acknowledge", err)
		pause(s.ctx, wait)
		wait = min(2*wait, longWait)
	}
}

// await waits for work, and reports whether the session is still open. While the window is full, no events are read.
func (s *session) await() bool {
	for s.ctx.Err() == nil {
		s.mu.Lock()
		ready := !s.pending.empty() || s.mayRead()
		s.mu.Unlock()
		if ready {
			return true
		}
		select {
		case <-s.woken:
		case <-s.ctx.Done():
		}
	}
	return false
}

// mayRead reports whether a pass is running and the window has, or may get, room. The caller holds the session's lock.
func (s *session) mayRead() bool {
	return s.position.passing && (s.position.pruning || !s.inflight.full())
}

// work does the pending work, and reads and sends a chunk of events. An error comes from the database; the next call does the
// rest.
func (s *session) work() error {
	s.mu.Lock()
	work := s.pending
	s.pending = pending{acks: work.acks}
	s.mu.Unlock()
	if work.recheck {
		s.position.reset()
	}
	if work.fetch || work.recheck {
		s.position.begin(s.hub.horizon.Load())
	}
	if work.ping && s.link.ping() != nil {
		s.close(errBroken)
	}
	if err := s.acknowledge(work.acks); err != nil {
		return err
	}
	return s.deliver()
}

// acknowledge deletes events and then answers each ack once. For an event that is already settled it only answers.
func (s *session) acknowledge(ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var fresh []uuid.UUID
	s.mu.Lock()
	for _, id := range ids {
		if s.inflight.holds(id) {
			fresh = append(fresh, id)
		}
	}
	s.mu.Unlock()
	if len(fresh) > 0 {
		err := s.hub.inTurn(s.ctx, func(ctx context.Context) error {
			_, err := s.hub.Graph.Events.Acknowledge(ctx, s.slot.BotID, fresh)
			return err
		})
		if err != nil {
			return err
		}
		s.hub.settle(s.slot.BotID, fresh) // including events that were deleted before
	}
	s.mu.Lock()
	s.pending.acks = slices.Clone(s.pending.acks[len(ids):])
	s.mu.Unlock()
	for _, id := range ids {
		if !s.write(acked(id)) {
			break
		}
	}
	return nil
}

// deliver reads a chunk of events and sends the events that the connection has not received. If the window is full, it reads
// nothing, unless events in flight may be gone.
func (s *session) deliver() error {
	p := &s.position
	s.mu.Lock()
	if !s.mayRead() {
		s.mu.Unlock()
		return nil
	}
	cursor := events.Cursor{
		Recipient: s.slot.BotID, Version: s.version, After: p.at, Known: p.known, Size: s.inflight.behind(p.at) + chunk,
		SkipOwn: s.skipOwn,
	}
	s.loading, s.settledWhileLoading = true, nil
	s.mu.Unlock()
	batch, err := s.hub.fetch(s.ctx, cursor)
	whole := false
	if err == nil {
		whole = s.sendAll(batch)
	}
	s.mu.Lock()
	s.loading, s.settledWhileLoading = false, nil
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case !whole: // the pass continues after the last event that was sent
	case batch.More:
		p.at = max(p.at, batch.Last)
		p.known = max(p.known, p.at)
	default:
		p.known = max(p.known, batch.Last)
		if p.end() {
			p.begin(s.hub.horizon.Load())
		}
	}
	return nil
}

// sendAll sends a batch in order and reports whether it processed all of it. The position is then after the last processed event.
func (s *session) sendAll(batch events.Batch) bool {
	p := &s.position
	if p.pruning {
		p.pruning = false
		s.mu.Lock()
		s.inflight.prune(batch)
		s.mu.Unlock()
	}
	for i := range batch.Events {
		e := &batch.Events[i]
		s.mu.Lock()
		// The connection has received the event, or must not receive it any more.
		skip := s.inflight.received(e.ID) || slices.Contains(s.settledWhileLoading, e.ID)
		sends := !skip && e.Kind != "" && !s.inflight.full()
		if sends {
			s.inflight.send(e.ID, e.Sequence)
		}
		s.mu.Unlock()
		switch {
		case skip:
		case e.Kind == "": // it became visible after later events and was read without its frame, so it must be read again
			p.known = e.Sequence - 1
			return false
		case !sends || !s.write(s.link.frame(e)): // if the window is full, it must be read again later
			return false
		default:
			s.hub.counts.delivered.Add(1)
		}
		p.at = e.Sequence
		p.known = max(p.known, e.Sequence)
	}
	return true
}

// write sends a frame, and ends the session if that fails.
func (s *session) write(frame []byte) bool {
	if s.ctx.Err() == nil && s.link.write(frame) == nil {
		return true
	}
	s.close(errBroken)
	return false
}
