package socket

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
)

const (
	// chunk is how many new events are read and sent in one go: few enough that what is sent was just read, and that the messages
	// held in memory are bounded.
	chunk = 16
	// slowClient is how long a client may take for a chunk before the rest is dropped, so that other sessions may read theirs.
	slowClient = 250 * time.Millisecond
	// Waits between attempts while the database is away.
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second
)

// pending is the work of a session's write pump.
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

// waits reports whether reading events is all there is to do, which has to wait while the window is full.
func (p *pending) waits() bool { return p.reads() && !p.recheck && !p.ping && len(p.acks) == 0 }

func (p *pending) empty() bool { return !p.reads() && !p.ping && len(p.acks) == 0 }

// schedule adds work and starts the write pump if it is not running, unless all of the work has to wait for room in the window.
func (s *session) schedule(work pending) {
	s.mu.Lock()
	s.pending.add(work)
	start := !s.pumping && s.closing == nil && !(s.blocked && s.pending.waits())
	if start {
		s.pumping = true
	}
	s.mu.Unlock()
	if start {
		go s.writePump()
	}
}

// next takes the work; ok is false if the write pump has to end.
func (s *session) next() (work pending, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	work = s.pending
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

// do does the work (one chunk of events) and removes the finished part from it. An error is the database's; a client that cannot
// be written to ends the session.
func (s *session) do(work *pending) error {
	if len(work.acks) > 0 {
		if err := s.acknowledge(work.acks); err != nil {
			return err
		}
		work.acks = nil
	}
	if work.ping {
		if s.link.ping() != nil {
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

// settleAll settles events that were acknowledged on any connection of the agent.
func (s *session) settleAll(ids []uuid.UUID) {
	s.mu.Lock()
	for _, id := range ids {
		s.inflight.settle(id)
	}
	if s.loading {
		s.settledWhileLoading = append(s.settledWhileLoading, ids...)
	}
	blocked := s.blocked
	s.blocked = false
	s.mu.Unlock()
	if blocked {
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
		s.blocked = p.passing
		s.mu.Unlock()
		return nil
	}
	cursor := events.Cursor{
		Recipient: s.slot.BotID, Version: s.version, After: p.at, Known: p.known, Size: s.inflight.behind(p.at) + chunk,
		SkipOwn: s.skipOwn,
	}
	s.loading, s.settledWhileLoading = true, nil
	s.mu.Unlock()

	permit := s.hub.acquireChunk()
	defer permit.release()
	s.hub.counts.fetched.Add(1)
	batch, err := s.hub.fetches.do(s.hub.ctx, cursor)

	s.mu.Lock()
	if work.recheck && err == nil {
		s.inflight.prune(batch)
	}
	s.unsent, s.dropped = batch.Events, false
	s.mu.Unlock()
	slow := time.AfterFunc(slowClient, func() { s.dropUnsent(permit) })
	done := s.sendAll()
	slow.Stop()

	s.mu.Lock()
	s.loading, s.settledWhileLoading, s.unsent = false, nil, nil
	s.blocked = !done && s.inflight.full()
	resume := !done && !s.blocked && s.closing == nil
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

// sendAll sends the batch in order and reports whether it went through all of it; the position is then behind the last event that
// it went through.
func (s *session) sendAll() bool {
	p := &s.position
	for {
		e, do := s.nextUnsent()
		switch do {
		case stop:
			return false
		case readAgain:
			p.known = e.Sequence - 1
			return false
		case finished:
			return true
		case send:
			if !s.write(s.link.frame(&e)) {
				return false
			}
			s.hub.counts.delivered.Add(1)
		case skip:
		}
		p.at = e.Sequence
		p.known = max(p.known, e.Sequence)
	}
}

// step is the next action for an event of a batch.
type step int

const (
	// finished: the batch has no more events.
	finished step = iota
	// stop: it must be read again later, because the window is full or the client slow.
	stop
	// readAgain: it was read without its frame, because it became visible after events behind it; it must be read again with it.
	readAgain
	// skip: the connection has received it, or must not receive it any more.
	skip
	send
)

// nextUnsent takes the next event of the batch; one that is to be sent is in flight from now on.
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
	case s.inflight.received(e.ID) || slices.Contains(s.settledWhileLoading, e.ID):
		s.unsent = s.unsent[1:]
		return e, skip
	case e.Kind == "":
		return e, readAgain
	case s.inflight.full():
		return e, stop
	}
	s.unsent = s.unsent[1:]
	s.inflight.send(e.ID, e.Sequence)
	return e, send
}

// dropUnsent drops the unsent events of a chunk, and lets another session read.
func (s *session) dropUnsent(p *chunkPermit) {
	s.mu.Lock()
	s.dropped = s.dropped || len(s.unsent) > 0
	s.unsent = nil
	s.mu.Unlock()
	p.release()
}

// write sends a frame, or ends the session.
func (s *session) write(frame []byte) bool {
	if s.link.write(frame) != nil {
		s.close(errBroken)
		return false
	}
	return true
}

// chunkPermit is the permission to hold a chunk of events in memory.
type chunkPermit struct {
	chunks chan struct{}
	once   sync.Once
}

// acquireChunk waits for a permit. It is held while the chunk is read and for at most slowClient while it is sent.
func (h *Hub) acquireChunk() *chunkPermit {
	h.chunks <- struct{}{}
	return &chunkPermit{chunks: h.chunks}
}

func (p *chunkPermit) release() { p.once.Do(func() { <-p.chunks }) }
