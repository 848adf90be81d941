package socket

import (
	"slices"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// remembered is how many settled events a connection knows as received, so that a repeated ack is answered again: four windows,
// 16 KiB. An ack of an event settled longer ago counts as one of an event that was never received.
const remembered = 4 * events.WindowSize

// flight is what one connection has received. It takes no memory before the first event.
type flight struct {
	// pending are sent and not acknowledged, in the order of sending; at most events.WindowSize.
	pending []sent
	// settled are acknowledged, here or on another connection, or withdrawn: a ring once it is full.
	settled []uuid.UUID
	oldest  int
}

type sent struct {
	id       uuid.UUID
	sequence int64
}

// full tells that nothing may be sent until something is settled.
func (f *flight) full() bool { return len(f.pending) >= events.WindowSize }

func (f *flight) find(id uuid.UUID) int {
	return slices.IndexFunc(f.pending, func(s sent) bool { return s.id == id })
}

// ids are those of what is sent and not settled.
func (f *flight) ids() []uuid.UUID {
	var ids []uuid.UUID
	for _, s := range f.pending {
		ids = append(ids, s.id)
	}
	return ids
}

// inFlight tells whether an event is sent and not settled.
func (f *flight) inFlight(id uuid.UUID) bool { return f.find(id) >= 0 }

// received tells whether the connection has been sent an event, settled or not.
func (f *flight) received(id uuid.UUID) bool {
	return f.inFlight(id) || slices.Contains(f.settled, id)
}

func (f *flight) send(id uuid.UUID, sequence int64) {
	f.pending = append(f.pending, sent{id, sequence})
}

// settle takes an event out of the flight; one that is not in it changes nothing.
func (f *flight) settle(id uuid.UUID) {
	i := f.find(id)
	if i < 0 {
		return
	}
	if f.pending = slices.Delete(f.pending, i, i+1); len(f.pending) == 0 {
		f.pending = nil
	}
	if len(f.settled) < remembered {
		f.settled = append(f.settled, id)
		return
	}
	f.settled[f.oldest] = id
	f.oldest = (f.oldest + 1) % remembered
}

// prune settles what a view from the oldest event on would show and does not: it was acknowledged on another connection, or its
// message was withdrawn.
func (f *flight) prune(view events.View) {
	there := make(map[uuid.UUID]bool, len(view.Pending))
	for _, p := range view.Pending {
		there[p.ID] = true
	}
	for _, s := range slices.Clone(f.pending) {
		behind := view.More && s.sequence > view.Last
		if !there[s.id] && !behind {
			f.settle(s.id)
		}
	}
}
