package socket

import (
	"slices"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// settledKept is how many settled events a connection remembers as received, so that a repeated ack is answered again: four windows.
// An event that was settled earlier counts as never received.
const settledKept = 4 * events.WindowSize

// inflight are the events that one connection has received. It takes no memory before the first event.
type inflight struct {
	// pending are sent and not settled, in the order of sending; at most events.WindowSize.
	pending []sent
	// settled are acknowledged, here or on another connection, or withdrawn. It is a ring once it is full.
	settled []sent
	oldest  int
}

// sent is an event that the connection has received.
type sent struct {
	id       uuid.UUID
	sequence int64
	// acked reports that the client has acknowledged it on this connection.
	acked bool
}

// ackState is the effect of an ack on the connection that it came on.
type ackState int

const (
	// ackUnknown: the connection has not received the event.
	ackUnknown ackState = iota
	ackFirst
	ackRepeated
)

// full reports whether nothing may be sent until an event is settled.
func (f *inflight) full() bool { return len(f.pending) >= events.WindowSize }

func find(list []sent, id uuid.UUID) int {
	return slices.IndexFunc(list, func(s sent) bool { return s.id == id })
}

// holds reports whether an event is sent and not settled.
func (f *inflight) holds(id uuid.UUID) bool { return find(f.pending, id) >= 0 }

// received reports whether the connection has been sent an event, settled or not.
func (f *inflight) received(id uuid.UUID) bool { return f.holds(id) || find(f.settled, id) >= 0 }

// behind counts the events in flight with a sequence larger than the given one.
func (f *inflight) behind(sequence int64) (n int) {
	for _, s := range f.pending {
		if s.sequence > sequence {
			n++
		}
	}
	return n
}

// ack notes that the client has acknowledged an event. It settles nothing.
func (f *inflight) ack(id uuid.UUID) ackState {
	for _, list := range [...][]sent{f.pending, f.settled} {
		if i := find(list, id); i >= 0 {
			if list[i].acked {
				return ackRepeated
			}
			list[i].acked = true
			return ackFirst
		}
	}
	return ackUnknown
}

func (f *inflight) send(id uuid.UUID, sequence int64) {
	f.pending = append(f.pending, sent{id: id, sequence: sequence})
}

// settle makes room for another event; an event that is not in flight changes nothing.
func (f *inflight) settle(id uuid.UUID) {
	i := find(f.pending, id)
	if i < 0 {
		return
	}
	done := f.pending[i]
	if f.pending = slices.Delete(f.pending, i, i+1); len(f.pending) == 0 {
		f.pending = nil
	}
	if len(f.settled) < settledKept {
		f.settled = append(f.settled, done)
		return
	}
	f.settled[f.oldest] = done
	f.oldest = (f.oldest + 1) % settledKept
}

// prune settles the events in flight that a batch from the oldest event on would hold and does not: they were acknowledged on
// another connection or withdrawn.
func (f *inflight) prune(batch events.Batch) {
	there := make(map[uuid.UUID]bool, len(batch.Events))
	for _, e := range batch.Events {
		there[e.ID] = true
	}
	for _, s := range slices.Clone(f.pending) {
		beyond := batch.More && s.sequence > batch.Last
		if !there[s.id] && !beyond {
			f.settle(s.id)
		}
	}
}

// position is how far a session has read its recipient's events. A pass reads them from settled on, in chunks, so that it finds events
// that became visible after later ones; the next pass begins where the horizon was when the last one began. Only the goroutine of serve uses it.
type position struct {
	// settled is the sequence up to which no event can appear any more that the session has not gone through.
	settled int64
	// known is the sequence up to which the session has gone through the events that were visible.
	known int64
	// passing reports that a pass is under way. It continues behind the sequence at and was begun at the horizon begun.
	passing   bool
	at, begun int64
	// again reports that another pass has to follow.
	again bool
	// pruning reports that events in flight may be gone, which the next batch shows.
	pruning bool
}

// begin starts a pass, or has one follow the pass under way.
func (p *position) begin(horizon int64) {
	if p.passing {
		p.again = true
		return
	}
	p.passing, p.at, p.begun = true, p.settled, horizon
}

// end ends a pass that has reached the last event, and reports whether another has to follow.
func (p *position) end() (again bool) {
	again = p.again
	p.passing, p.again = false, false
	p.settled = max(p.settled, p.begun)
	p.known = max(p.known, p.settled)
	return again
}

// reset has the next pass begin at the oldest event.
func (p *position) reset() { p.settled, p.passing, p.again, p.pruning = 0, false, false, true }
