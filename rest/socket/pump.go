package socket

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
)

const (
	// chunk is how many events are read and sent in one go: few enough that what is sent was just read, and that the messages
	// held in memory are bounded.
	chunk = 16
	// Waits between attempts while the database is away.
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second
)

// chores is what the pump of a session has before it.
type chores struct {
	// look: there may be new events anywhere behind the oldest.
	look bool
	// more: there are events behind the cursor.
	more bool
	ping bool
	acks []uuid.UUID
}

func (t *chores) add(more chores) {
	t.look = t.look || more.look
	t.more = t.more || more.more
	t.ping = t.ping || more.ping
	t.acks = append(t.acks, more.acks...)
}

func (t *chores) empty() bool { return !t.look && !t.more && !t.ping && len(t.acks) == 0 }

// kick gives the pump work and starts it if it is not running.
func (s *session) kick(work chores) {
	s.mu.Lock()
	s.chores.add(work)
	idle := !s.pumping && s.closing == nil
	if idle {
		s.pumping = true
	}
	s.mu.Unlock()
	if idle {
		go s.pump()
	}
}

// next takes the pump's work, or tells that the pump is to end.
func (s *session) next() (chores, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.chores
	if s.chores = (chores{}); work.empty() || s.closing != nil {
		s.pumping = false
		return chores{}, false
	}
	return work, true
}

// pump writes until there is nothing left. While the database is away it tries again and the connection stays open.
func (s *session) pump() {
	wait := firstWait
	for {
		work, ok := s.next()
		if !ok {
			return
		}
		err := s.work(&work)
		if err == nil {
			wait = firstWait
			continue
		}
		s.hub.complain("event socket cannot read or acknowledge", err)
		s.mu.Lock()
		work.add(s.chores)
		s.chores = work
		s.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-s.hub.ctx.Done():
			s.close(errAway)
		}
		wait = min(2*wait, longWait)
	}
}

// work does one piece of everything and takes off work what is done. An error is the database's; a client that cannot be
// written to ends the session.
func (s *session) work(work *chores) error {
	if len(work.acks) > 0 {
		if err := s.acknowledge(work.acks); err != nil {
			return err
		}
		work.acks = nil
	}
	if work.ping {
		if s.send(opPing, nil) != nil {
			s.close(errBroken)
		}
		work.ping = false
	}
	if work.look || work.more {
		if err := s.deliver(work.look); err != nil {
			return err
		}
		work.look, work.more = false, false
	}
	return nil
}

// acknowledge deletes events and then answers, each ack once. Those that are settled already are only answered.
func (s *session) acknowledge(ids []uuid.UUID) error {
	var fresh []events.Ack
	s.mu.Lock()
	for _, id := range ids {
		if s.flight.inFlight(id) {
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

// deliver reads a chunk of events and sends those that the connection has not received and that fit into its flight.
func (s *session) deliver(look bool) error {
	s.hub.loading <- struct{}{}
	defer func() { <-s.hub.loading }()
	s.mu.Lock()
	if s.flight.full() && !look {
		s.held = true
		s.mu.Unlock()
		return nil
	}
	window := events.Window{
		Recipient: s.slot.BotID, Version: s.version, After: s.cursor, Size: chunk, Sent: s.received, Pending: s.flight.ids(),
	}
	if look {
		s.cursor = 0
		window.After, window.Size = 0, min(len(s.flight.pending)+chunk, events.WindowSize)
	}
	s.loading, s.gone = true, nil
	s.mu.Unlock()

	view, err := s.hub.views.do(s.hub.ctx, window)

	s.mu.Lock()
	if look && err == nil {
		s.flight.prune(view)
	}
	s.mu.Unlock()
	sentAll := s.sendAll(view.Pending)
	s.mu.Lock()
	s.loading, s.gone = false, nil
	s.held = !sentAll
	freed := s.held && !s.flight.full() // on another connection, since the last event was sent
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if sentAll {
		s.cursor = view.Last
	}
	if sentAll && view.More || freed {
		s.kick(chores{more: true})
	}
	return nil
}

// sendAll sends events in order and tells whether all of them are sent; the cursor is behind the last one that is.
func (s *session) sendAll(pending []events.Pending) bool {
	for _, p := range pending {
		s.mu.Lock()
		send := p.Frame != nil && !slices.Contains(s.gone, p.ID)
		if send && s.flight.full() {
			s.mu.Unlock()
			return false
		}
		if send {
			s.flight.send(p.ID, p.Sequence)
		}
		s.mu.Unlock()
		if send && !s.write(p.Frame) {
			return false
		}
		if send {
			s.hub.counts.delivered.Add(1)
		}
		s.cursor = p.Sequence
	}
	return true
}

func (s *session) received(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flight.received(id)
}

// write sends a text frame; a client that does not take it in time is cut off, and what it missed comes again.
func (s *session) write(frame []byte) bool {
	if s.send(opText, frame) != nil {
		s.close(errBroken)
		return false
	}
	return true
}
