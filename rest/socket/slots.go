package socket

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
)

// closeReason is the reason for which the server ends a connection: a close code of §6 and a text for logs.
type closeReason struct { //nolint:errname // it is more than an error: the code goes to the client
	code int
	text string
}

func (c closeReason) Error() string { return c.text }

// say returns the reason with another text, or c if text is empty. A close frame holds at most 123 bytes of text.
func (c closeReason) say(text string) closeReason {
	if text != "" {
		c.text = text
	}
	return c
}

// Close codes of §6.
const (
	codeProtocol    = 4400
	codeIdentity    = 4401
	codeAccess      = 4403
	codeLimit       = 4429
	codeUnavailable = websocket.CloseTryAgainLater
)

// Reasons for which the server ends a connection.
var (
	errQuery     = closeReason{codeProtocol, "the address takes no query; the token goes into the Authorization header"}
	errProtocol  = closeReason{codeProtocol, "only ack frames are understood here"}
	errLarge     = closeReason{codeProtocol, "a message holds at most " + strconv.Itoa(bounds.Frame) + " bytes"}
	errIdentity  = closeReason{codeIdentity, "a valid bearer token is required"}
	errEnded     = closeReason{codeIdentity, "the token has ended"}
	errOrigin    = closeReason{codeAccess, "this origin may not connect"}
	errSuspended = closeReason{codeAccess, "the agent is suspended"}
	errFull      = closeReason{codeLimit, "too many connections"}
	errFast      = closeReason{codeLimit, "too many frames in a second"}
	errAway      = closeReason{codeUnavailable, "try again later"}
	errDraining  = closeReason{codeUnavailable, "shutting down"}
	// errExpired ends a stream after its maximum life, errAnswered a poll that has its answer.
	errExpired  = closeReason{websocket.CloseNormalClosure, "connect again"}
	errAnswered = closeReason{websocket.CloseNormalClosure, "answered"}

	// errBroken ends a connection that cannot be written to any more, or whose client has left.
	errBroken = closeReason{}
	// errFraming ends a connection on which the client broke RFC 6455; the library has sent the close frame.
	errFraming = closeReason{code: websocket.CloseProtocolError}
)

// codes are the close codes with a separate count; a peer may close with any other code.
var codes = [...]int{0, 1000, 1001, errFraming.code, codeUnavailable, codeProtocol, codeIdentity, codeAccess, codeLimit}

// reasonOf returns the close reason for a fault of authorize or lease. Most faults mean that the server cannot decide at the moment.
func (h *Hub) reasonOf(err error) *closeReason {
	switch known := fault.From(err); known.Code {
	case fault.Unauthorized:
		refused := errIdentity.say(known.Message)
		return &refused
	case fault.Forbidden:
		return &errSuspended
	}
	h.warnLimited("event socket refuses a client", err)
	return &errAway
}

// faultOf returns a reason as a REST fault: rate_limited, unauthorized or service_unavailable.
func faultOf(reason closeReason) error {
	switch {
	case reason == errFull:
		return fault.New(fault.RateLimited).Say("All places of this agent, or of the server, on the event channel are taken.")
	case reason == errEnded:
		return fault.New(fault.Unauthorized)
	case reason.code == codeIdentity:
		return fault.New(fault.Unauthorized).Say(reason.text)
	}
	return fault.New(fault.ServiceUnavailable)
}

var (
	// admitTimeout bounds the admission.
	admitTimeout = slack.Of(5 * time.Second)
	// defaultReleaseTimeout is the time for which a closing connection waits for its slot to be free before it informs the client.
	defaultReleaseTimeout = slack.Of(250 * time.Millisecond)
	// leaseRetries are the pauses between attempts to lease a slot: a client may reconnect before its last connection has ended.
	leaseRetries = [...]time.Duration{slack.Of(50 * time.Millisecond), slack.Of(100 * time.Millisecond), slack.Of(200 * time.Millisecond), 0}
)

// admit leases a slot for an agent's session and registers it, or returns a reason not to: errFull, errDraining or errAway.
func (h *Hub) admit(ctx context.Context, v viewer.Viewer, s *session) *closeReason {
	ctx, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	if h.draining.Load() {
		return &errDraining
	}
	process := h.awaitProcess(ctx)
	if process == 0 {
		return &errAway
	}
	slot := events.Slot{ID: uuid.Must(uuid.NewV7()), BotID: v.BotID, TokenID: v.TokenID}
	if refused := h.lease(ctx, process, slot); refused != nil {
		return refused
	}
	s.slot = slot
	if refused := h.register(s, process); refused != nil {
		s.slot = events.Slot{}
		h.freeSlot(slot.ID)
		return refused
	}
	return nil
}

// lease leases a slot under the process's number.
func (h *Hub) lease(ctx context.Context, process int32, slot events.Slot) *closeReason {
	for _, wait := range leaseRetries {
		result, err := h.Graph.Events.OpenSlot(ctx, process, slot, h.Quotas.SocketsPerAgent, h.Quotas.Sockets)
		switch {
		case err != nil:
			h.freeSlot(slot.ID) // the lease may already exist, or may be made later
			time.AfterFunc(statementTimeout, func() { h.freeSlot(slot.ID) })
			return h.reasonOf(err)
		case result == events.Lost:
			return &errAway
		case result == events.Taken:
			return nil
		}
		pause(ctx, wait)
	}
	return &errFull
}

// register adds a session, unless the Hub is draining or the process has lost the number under which the slot was leased.
func (h *Hub) register(s *session, process int32) *closeReason {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining.Load():
		return &errDraining
	case process != h.process.Load() || h.ctx.Err() != nil:
		return &errAway
	}
	h.sessions[s.slot.BotID] = append(h.sessions[s.slot.BotID], s)
	h.counts.opened.Add(1)
	h.open.Add(1)
	return nil
}

// unregister removes a session and frees its slot. It waits a moment for the slot, so that a client that sees its connection
// closed can open another one. It ignores a session that was not admitted.
func (h *Hub) unregister(s *session) {
	if s.slot.ID == uuid.Nil {
		return
	}
	h.mu.Lock()
	// A new slice, because others may be iterating over the old one.
	siblings := slices.DeleteFunc(slices.Clone(h.sessions[s.slot.BotID]), func(other *session) bool { return other == s })
	if h.sessions[s.slot.BotID] = siblings; len(siblings) == 0 {
		delete(h.sessions, s.slot.BotID)
	}
	h.mu.Unlock()
	select {
	case <-h.freeSlot(s.slot.ID):
	case <-time.After(h.releaseTimeout):
	case <-h.ctx.Done():
	}
}

// freeSlot frees a slot. It retries until it succeeds, because a lease counts for as long as its process lives. It then closes
// the returned channel.
func (h *Hub) freeSlot(id uuid.UUID) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait := firstWait; h.ctx.Err() == nil; wait = min(2*wait, longWait) {
			ctx, cancel := context.WithTimeout(h.ctx, statementTimeout)
			err := h.Graph.Events.CloseSlot(ctx, id)
			cancel()
			if err == nil {
				return
			}
			h.warnLimited("event socket cannot free its slot", err)
			pause(h.ctx, wait)
		}
	}()
	return done
}

// finished counts a session whose connection is closed, or a socket that was not admitted.
func (h *Hub) finished(s *session, reason closeReason) {
	h.counts.closed(reason.code)
	if s.slot.ID != uuid.Nil {
		h.open.Done()
	}
}
