package socket

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// enter makes a session one of the Hub's, unless the Hub is draining or the process has lost the number that its slot was leased
// under.
func (h *Hub) enter(s *session, process int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining || process != h.process || h.ctx.Err() != nil {
		return false
	}
	h.sessions[s.slot.BotID] = append(h.sessions[s.slot.BotID], s)
	s.round = h.rounds % pingRounds
	h.rounds++
	h.open.Add(1)
	h.counts.opened.Add(1)
	return true
}

// leave takes a session out and frees its slot. It waits a moment for that, so that a client that sees its connection closed can
// open another one.
func (h *Hub) leave(s *session) {
	if s.slot.ID == uuid.Nil {
		return
	}
	h.mu.Lock()
	mates := h.sessions[s.slot.BotID]
	if i := slices.Index(mates, s); i >= 0 {
		// A new slice, since others range over the old one.
		if mates = slices.Concat(mates[:i], mates[i+1:]); len(mates) == 0 {
			delete(h.sessions, s.slot.BotID)
		} else {
			h.sessions[s.slot.BotID] = mates
		}
	}
	h.mu.Unlock()
	select {
	case <-h.slots.ask(s.slot.ID).done:
	case <-time.After(releaseTimeout):
	case <-h.ctx.Done():
	}
}

// finished counts a session's end, once its connection is closed.
func (h *Hub) finished(s *session, last closure) {
	h.counts.closed(last.code)
	if s.slot.ID != uuid.Nil {
		h.open.Done()
	}
}

// of returns the sessions of an agent; the slice is not to be changed.
func (h *Hub) of(bot uuid.UUID) []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[bot]
}

// all returns every session.
func (h *Hub) all() []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]*session, 0, len(h.sessions))
	for _, mates := range h.sessions {
		list = append(list, mates...)
	}
	return list
}

// ofRound returns the sessions whose peers are pinged in a round.
func (h *Hub) ofRound(round int) []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var list []*session
	for _, mates := range h.sessions {
		for _, s := range mates {
			if s.round == round {
				list = append(list, s)
			}
		}
	}
	return list
}

// tokensHeld adds to a list the tokens that connections were opened with, each once: a token is one agent's.
func (h *Hub) tokensHeld(list []uuid.UUID) []uuid.UUID {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, mates := range h.sessions {
		first := len(list)
		for _, s := range mates {
			if !slices.Contains(list[first:], s.slot.TokenID) {
				list = append(list, s.slot.TokenID)
			}
		}
	}
	return list
}

// count returns how many sessions there are.
func (h *Hub) count() (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, mates := range h.sessions {
		n += len(mates)
	}
	return n
}

// wakeHere wakes the sessions of agents on this process.
func (h *Hub) wakeHere(bots []uuid.UUID) {
	for _, bot := range bots {
		for _, s := range h.of(bot) {
			s.kick(chores{look: true})
		}
	}
}

// wakeAll wakes every session of this process.
func (h *Hub) wakeAll() {
	for _, s := range h.all() {
		s.kick(chores{look: true})
	}
}

// settle tells all connections of an agent that events are acknowledged.
func (h *Hub) settle(bot uuid.UUID, ids []uuid.UUID) {
	for _, s := range h.of(bot) {
		s.forget(ids)
	}
}

// slotsHeld lists the slots of all sessions.
func (h *Hub) slotsHeld() []events.Slot {
	sessions := h.all()
	slots := make([]events.Slot, len(sessions))
	for i, s := range sessions {
		slots[i] = s.slot
	}
	return slots
}
