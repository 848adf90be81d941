package socket

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
)

const (
	// chunk is how many new events are read and sent in one go: few enough that what is sent was just read, and that the messages
	// held in memory are bounded.
	chunk = 16
	// slowClient is how long a client may take for a chunk before the chunk is given up, so that others may read theirs.
	slowClient = 250 * time.Millisecond
	// Waits between attempts while the database is away.
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second
)

// pending is the work that waits for a session's write pump.
type pending struct {
	// fetch: there may be events that were not there before.
	fetch bool
	// more: the events behind the current position are to be read.
	more bool
	// recheck: events in flight may be gone, and any event may be new.
	recheck bool
	ping    bool
	acks    []uuid.UUID
}

func (p *pending) add(more pending) {
	p.fetch = p.fetch || more.fetch
	p.more = p.more || more.more
	p.recheck = p.recheck || more.recheck
	p.ping = p.ping || more.ping
	p.acks = append(p.acks, more.acks...)
}

func (p *pending) reads() bool { return p.fetch || p.more || p.recheck }

// waits tells that there is nothing to do but to read what lies behind a full window.
func (p *pending) waits() bool { return p.reads() && !p.recheck && !p.ping && len(p.acks) == 0 }

func (p *pending) empty() bool { return !p.reads() && !p.ping && len(p.acks) == 0 }

// schedule gives the write pump work and starts it if it is not running and can do any of it: events that have to wait for a
// place in the window need no pump.
func (s *session) schedule(work pending) {
	s.mu.Lock()
	s.pending.add(work)
	start := !s.pumping && s.closing == nil && !(s.held && s.pending.waits())
	if start {
		s.pumping = true
	}
	s.mu.Unlock()
	if start {
		go s.writePump()
	}
}

// next takes the work, or tells that the write pump is to end.
func (s *session) next() (pending, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.pending
	if s.pending = (pending{}); work.empty() || s.closing != nil {
		s.pumping = false
		return pending{}, false
	}
	return work, true
}

// writePump writes until there is nothing left. While the database is away it tries again and the connection stays open.
func (s *session) writePump() {
	wait := firstWait
	for {
		work, ok := s.next()
		if !ok {
			return
		}
		err := s.do(&work)
		if err == nil {
			wait = firstWait
			continue
		}
		s.hub.warnLimited("event socket cannot read or acknowledge", err)
		s.mu.Lock()
		work.add(s.pending)
		s.pending = work
		s.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-s.hub.ctx.Done():
			s.close(errAway)
		}
		wait = min(2*wait, longWait)
	}
}

// do does one piece of every kind of work and removes what is done. An error is the database's; a client that cannot be written
// to ends the session.
func (s *session) do(work *pending) error {
	if len(work.acks) > 0 {
		if err := s.acknowledge(work.acks); err != nil {
			return err
		}
		work.acks = nil
	}
	if work.ping {
		if s.conn.WriteControl(websocket.PingMessage, nil, s.writeDeadline()) != nil {
			s.close(errBroken)
		}
		work.ping = false
	}
	if work.reads() {
		if err := s.deliver(*work); err != nil {
			return err
		}
		work.fetch, work.more, work.recheck = false, false, false
	}
	return nil
}

// acknowledge deletes events and then answers, each ack once. Those that are settled already are only answered.
func (s *session) acknowledge(ids []uuid.UUID) error {
	var fresh []events.Ack
	s.mu.Lock()
	for _, id := range ids {
		if s.inflight.holds(id) {
			fresh = append(fresh, events.Ack{Recipient: s.slot.BotID, EventID: id})
		}
	}
	s.mu.Unlock()
	if len(fresh) > 0 {
		if _, err := s.hub.acks.do(s.hub.ctx, fresh); err != nil {
			return err
		}
		s.hub.settle(s.slot.BotID, ids)
	}
	for _, id := range ids {
		if !s.write(acked(id)) {
			break
		}
		s.hub.counts.acknowledged.Add(1)
	}
	return nil
}

// settleAll settles events that were acknowledged, here or on another connection of the agent.
func (s *session) settleAll(ids []uuid.UUID) {
	s.mu.Lock()
	for _, id := range ids {
		s.inflight.settle(id)
	}
	if s.loading {
		s.settledMeanwhile = append(s.settledMeanwhile, ids...)
	}
	held := s.held
	s.held = false
	s.mu.Unlock()
	if held {
		s.schedule(pending{more: true})
	}
}

// deliver reads a chunk of events and sends those that the connection has not received. With a full window it reads nothing,
// unless events in flight may be gone.
func (s *session) deliver(work pending) error {
	p := &s.position
	if work.recheck {
		p.reset()
	}
	if work.fetch || work.recheck {
		p.begin(s.hub.horizon.Load())
	}
	s.mu.Lock()
	if !p.passing || s.inflight.full() && !work.recheck {
		s.held = p.passing
		s.mu.Unlock()
		return nil
	}
	cursor := events.Cursor{
		Recipient: s.slot.BotID, Version: s.version, After: p.at, Known: p.known, Size: s.inflight.behind(p.at) + chunk,
	}
	s.loading, s.settledMeanwhile = true, nil
	s.mu.Unlock()

	place := s.hub.takePlace()
	defer place.release()
	s.hub.counts.fetched.Add(1)
	batch, err := s.hub.fetches.do(s.hub.ctx, cursor)

	s.mu.Lock()
	if work.recheck && err == nil {
		s.inflight.prune(batch)
	}
	s.unsent, s.dropped = batch.Events, false
	s.mu.Unlock()
	slow := time.AfterFunc(slowClient, func() { s.giveUp(place) })
	done := s.sendAll()
	slow.Stop()

	s.mu.Lock()
	s.loading, s.settledMeanwhile, s.unsent = false, nil, nil
	s.held = !done && s.inflight.full()
	resume := !done && !s.held && s.closing == nil
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case resume, done && batch.More:
		if done {
			p.at = max(p.at, batch.Last)
			p.known = max(p.known, p.at)
		}
		s.schedule(pending{more: true})
	case done:
		p.known = max(p.known, batch.Last)
		if p.end() {
			s.schedule(pending{fetch: true})
		}
	}
	return nil
}

// sendAll sends the batch in hand in order and tells whether it went through all of it; the position is behind the last event
// that it went through.
func (s *session) sendAll() bool {
	p := &s.position
	for {
		e, do := s.nextUnsent()
		switch do {
		case stop:
			return false
		case late:
			p.known = e.Sequence - 1
			return false
		case finished:
			return true
		case send:
			if !s.write(e.Frame) {
				return false
			}
			s.hub.counts.delivered.Add(1)
		case pass:
		}
		p.at = e.Sequence
		p.known = max(p.known, e.Sequence)
	}
}

// step is what to do about the next event of a batch.
type step int

const (
	// finished: there is none.
	finished step = iota
	// stop: it must be read again later, because the window is full or the client slow.
	stop
	// late: it became visible after events behind it and was read without its frame; it must be read again with it.
	late
	// pass: the connection has received it, or must not any more.
	pass
	send
)

// nextUnsent takes the next event of the batch in hand; one that is to be sent is in flight from now on.
func (s *session) nextUnsent() (events.Queued, step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return events.Queued{}, stop
	}
	if len(s.unsent) == 0 {
		return events.Queued{}, finished
	}
	e := s.unsent[0]
	switch {
	case s.inflight.received(e.ID) || slices.Contains(s.settledMeanwhile, e.ID):
		s.unsent = s.unsent[1:]
		return e, pass
	case e.Frame == nil:
		return e, late
	case s.inflight.full():
		return e, stop
	}
	s.unsent = s.unsent[1:]
	s.inflight.send(e.ID, e.Sequence)
	return e, send
}

// giveUp drops what has not been sent of a chunk, and gives its place to others.
func (s *session) giveUp(p *place) {
	s.mu.Lock()
	s.dropped = s.dropped || len(s.unsent) > 0
	s.unsent = nil
	s.mu.Unlock()
	p.release()
}

// write sends a text frame. A client that does not take it in time is cut off; it is sent what it missed on its next connection.
func (s *session) write(frame []byte) bool {
	_ = s.conn.SetWriteDeadline(s.writeDeadline()) // it returns no error
	if s.conn.WriteMessage(websocket.TextMessage, frame) != nil {
		s.close(errBroken)
		return false
	}
	return true
}

// place is the permission to hold a chunk of events in memory.
type place struct {
	places chan struct{}
	once   sync.Once
}

// takePlace waits for a place. It is held while the chunk is read and for slowClient at most while it is sent.
func (h *Hub) takePlace() *place {
	h.places <- struct{}{}
	return &place{places: h.places}
}

func (p *place) release() { p.once.Do(func() { <-p.places }) }
