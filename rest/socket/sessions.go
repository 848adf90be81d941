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
	s.round = h.nextRound % pingRounds
	h.nextRound++
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
	siblings := h.sessions[s.slot.BotID]
	if i := slices.Index(siblings, s); i >= 0 {
		// It makes a new slice, since others may be iterating over the old one.
		if siblings = slices.Concat(siblings[:i], siblings[i+1:]); len(siblings) == 0 {
			delete(h.sessions, s.slot.BotID)
		} else {
			h.sessions[s.slot.BotID] = siblings
		}
	}
	h.mu.Unlock()
	select {
	case <-h.slots.submit(s.slot.ID).done:
	case <-time.After(releaseTimeout):
	case <-h.ctx.Done():
	}
}

// finished counts a session's end, once its connection is closed.
func (h *Hub) finished(s *session, last closeReason) {
	h.counts.closed(last.code)
	if s.slot.ID != uuid.Nil {
		h.open.Done()
	}
}

// siblings returns the sessions of an agent. The caller must not change the slice.
func (h *Hub) siblings(bot uuid.UUID) []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[bot]
}

// all returns every session.
func (h *Hub) all() []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]*session, 0, len(h.sessions))
	for _, siblings := range h.sessions {
		list = append(list, siblings...)
	}
	return list
}

// ofRound returns the sessions whose peers are pinged in a round.
func (h *Hub) ofRound(round int) []*session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var list []*session
	for _, siblings := range h.sessions {
		for _, s := range siblings {
			if s.round == round {
				list = append(list, s)
			}
		}
	}
	return list
}

// tokensHeld adds to a list the tokens that connections were opened with, each once: a token belongs to one agent.
func (h *Hub) tokensHeld(list []uuid.UUID) []uuid.UUID {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, siblings := range h.sessions {
		first := len(list)
		for _, s := range siblings {
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
	for _, siblings := range h.sessions {
		n += len(siblings)
	}
	return n
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

// settle tells all connections of an agent that events are acknowledged.
func (h *Hub) settle(bot uuid.UUID, ids []uuid.UUID) {
	for _, s := range h.siblings(bot) {
		s.settleAll(ids)
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
