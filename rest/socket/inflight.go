package socket

import (
	"slices"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// settledKept is the number of settled events that a connection remembers as received (four windows), so that it answers a
// repeated ack again. An event that was settled earlier counts as never received.
const settledKept = 4 * events.WindowSize

// inflight holds the events that one connection has received. It takes no memory before the first event.
type inflight struct {
	// pending holds events that are sent and not settled, in the order of sending; at most events.WindowSize.
	pending []sent
	// settled holds events that are acknowledged, here or elsewhere, or withdrawn; the latest settledKept of them.
	settled []sent
}

// sent is an event that the connection has received.
type sent struct {
	id       uuid.UUID
	sequence int64
	// acked reports that the client has acknowledged it on this connection.
	acked bool
}

// ackState is the effect of an ack on its connection.
type ackState int

const (
	// ackUnknown means that the connection has not received the event.
	ackUnknown ackState = iota
	ackFirst
	ackRepeated
)

// full reports whether nothing may be sent until an event is settled.
func (f *inflight) full() bool { return len(f.pending) >= events.WindowSize }

func find(list []sent, id uuid.UUID) int {
	return slices.IndexFunc(list, func(s sent) bool { return s.id == id })
}

// holds reports whether an event has been sent and is not settled.
func (f *inflight) holds(id uuid.UUID) bool { return find(f.pending, id) >= 0 }

// received reports whether an event was sent on the connection, settled or not.
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

// ack records that the client has acknowledged an event. It settles nothing.
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

// settle moves an event from pending to settled, which makes room for another; it ignores an event that is not in flight.
func (f *inflight) settle(id uuid.UUID) {
	i := find(f.pending, id)
	if i < 0 {
		return
	}
	done := f.pending[i]
	if f.pending = slices.Delete(f.pending, i, i+1); len(f.pending) == 0 {
		f.pending = nil
	}
	if f.settled = append(f.settled, done); len(f.settled) > settledKept {
		f.settled = f.settled[1:]
	}
}

// prune settles the events in flight that are missing from a batch that begins at the oldest event: they were acknowledged on
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

// position is the progress of a session in its recipient's events. A pass reads chunks, starting at settled, to find events that
// became visible after later ones. The next pass starts at this pass's begun. Only the goroutine of serve uses it.
type position struct {
	// settled is the sequence up to which the session has processed all events; no new event can appear there.
	settled int64
	// known is the sequence up to which the session has processed all events that were visible.
	known int64
	// passing is true during a pass. The pass continues after the sequence at, and it started with the horizon begun.
	passing   bool
	at, begun int64
	// again is true if another pass must follow.
	again bool
	// pruning is true if events in flight may be gone; the next batch shows it.
	pruning bool
}

// begin starts a pass; during a pass it requests another one.
func (p *position) begin(horizon int64) {
	if p.passing {
		p.again = true
		return
	}
	p.passing, p.at, p.begun = true, p.settled, horizon
}

// end ends a pass that has reached the last event, and reports whether another must follow.
func (p *position) end() (again bool) {
	again = p.again
	p.passing, p.again = false, false
	p.settled = max(p.settled, p.begun)
	p.known = max(p.known, p.settled)
	return again
}

// reset makes the next pass begin at the oldest event.
func (p *position) reset() { p.settled, p.passing, p.again, p.pruning = 0, false, false, true }
