package socket

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// versions are the subprotocols, the newest first, and the version of the channel that each stands for. A client that names none
// speaks the first version.
var versions = map[string]int{"stoa.events.v2": events.LatestVersion, "stoa.events.v1": events.FirstVersion}

// handshakeTimeout bounds the admission.
var handshakeTimeout = slack.Of(5 * time.Second)

// slotRetries are the pauses between attempts to lease a slot: a client may reconnect before its last connection has ended.
var slotRetries = [...]time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 0}

// upgrader answers handshakes. An idle connection keeps a small buffer for reading, which holds some acks, and none for writing.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: handshakeTimeout,
	ReadBufferSize:   256,
	WriteBufferSize:  4 << 10,
	WriteBufferPool:  &sync.Pool{},
	Subprotocols:     []string{"stoa.events.v2", "stoa.events.v1"},
	CheckOrigin:      func(*http.Request) bool { return true }, // authorize refuses a foreign one with a close code
	Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
		refused := fault.New(fault.InvalidInput).Say("The WebSocket handshake is not valid.")
		if status >= http.StatusInternalServerError {
			refused = fault.Wrap(fault.InternalError, reason)
		}
		_ = web.WriteError(w, refused) // a fault with a fixed text is always JSON
	},
}

// ServeHTTP opens a connection (§6). A request that does not ask for a WebSocket is upgrade_required; any other refusal completes the
// handshake and closes with a code, because a WebSocket client can read that.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The library upgrades HTTP/1.0 as well, which has no upgrades (RFC 9110 §7.8).
	if !r.ProtoAtLeast(1, 1) || !websocket.IsWebSocketUpgrade(r) || r.Header.Get("Sec-Websocket-Version") != "13" {
		w.Header().Add("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-Websocket-Version", "13")
		_ = web.WriteError(w, fault.New(fault.UpgradeRequired)) // as above
		return
	}
	s := &socket{session: session{hub: h, pingPeriod: pingRounds}}
	s.link = s
	process, refused := h.authorize(r, s)
	upgraded, err := upgrader.Upgrade(hijacker{w, s}, r, http.Header{web.RequestIDHeader: w.Header()[web.RequestIDHeader]})
	if err != nil {
		s.release()
		return
	}
	s.attach(upgraded)
	switch {
	case refused != nil:
		s.refuse(*refused)
	case !h.register(&s.session, process):
		s.release()
		s.slot = events.Slot{}
		s.refuse(errAway)
	default:
		s.start()
	}
}

// authorize decides who may connect and leases the session's slot, under the number of the process that it returns.
func (h *Hub) authorize(r *http.Request, s *socket) (int32, *closeReason) {
	ctx, cancel := context.WithTimeout(r.Context(), handshakeTimeout)
	defer cancel()
	token, bearer := web.Bearer(r.Header)
	switch {
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return 0, &errQuery
	case h.origins.Foreign(r):
		return 0, &errOrigin
	case h.isDraining():
		return 0, &errDraining
	case !bearer:
		return 0, &errIdentity
	}
	process := h.awaitProcess(ctx)
	if process == 0 {
		return 0, &errAway
	}
	v, err := h.Graph.Auth.Authenticate(ctx, token, false)
	if err != nil {
		return 0, h.closeReasonOf(err)
	}
	slot, refused := h.takeSlot(ctx, process, v)
	if refused != nil {
		return 0, refused
	}
	s.slot = slot
	return process, nil
}

// takeSlot leases a slot for an agent under the number of the process.
func (h *Hub) takeSlot(ctx context.Context, process int32, v viewer.Viewer) (events.Slot, *closeReason) {
	slot := events.Slot{ID: uuid.Must(uuid.NewV7()), BotID: v.BotID, TokenID: v.TokenID}
	verdict, err := h.leaseSlot(ctx, process, slot)
	switch {
	case err != nil:
		h.slots.submit(slot.ID) // whether the lease was made is unknown, and it may be made after this
		time.AfterFunc(statementTimeout, func() { h.slots.submit(slot.ID) })
		return events.Slot{}, h.closeReasonOf(err)
	case verdict == events.Full:
		return events.Slot{}, &errFull
	case verdict == events.Lost:
		return events.Slot{}, &errAway
	}
	return slot, nil
}

func (h *Hub) leaseSlot(ctx context.Context, process int32, slot events.Slot) (verdict events.SlotResult, err error) {
	for _, wait := range slotRetries {
		verdict, err = h.Graph.Events.OpenSlot(ctx, process, slot, h.Quotas.SocketsPerAgent, h.Quotas.Sockets)
		if err != nil || verdict != events.Full || wait == 0 {
			break
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return verdict, err
}

// closeReasonOf is the close reason for a fault of authorize or takeSlot.
func (h *Hub) closeReasonOf(err error) *closeReason {
	known := fault.From(err)
	if refused, ok := reasonOfFault[known.Code]; ok {
		if known.Code == fault.Unauthorized {
			refused = refused.say(known.Message)
		}
		return &refused
	}
	h.warnLimited("event socket refuses a client", err)
	return &errAway
}

// hijacker wraps the connection that the upgrade takes over in a meteredConn.
type hijacker struct {
	http.ResponseWriter
	socket *socket
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.socket.wire = &meteredConn{Conn: conn}
	return h.socket.wire, buffered, nil
}
