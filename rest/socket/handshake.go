package socket

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/fault"
	"stoa/rest"
)

// versions are the subprotocols, the newest first, and the version of the channel that each stands for. A client that names none
// speaks the first version.
var versions = map[string]int{"stoa.events.v2": events.LatestVersion, "stoa.events.v1": events.FirstVersion}

// handshakeTimeout is what admission may take.
const handshakeTimeout = 5 * time.Second

// slotWaits: a client that reconnects may be faster than the news that its last connection is closed, so a full house is asked
// again.
var slotWaits = [...]time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 0}

// upgrader answers handshakes. The library's connection is given up as soon as that is done: a session reads and writes frames
// itself, in a third of the memory. So it makes no buffers of its own.
var upgrader = websocket.Upgrader{
	WriteBufferPool: &sync.Pool{},
	Subprotocols:    []string{"stoa.events.v2", "stoa.events.v1"},
	CheckOrigin:     func(*http.Request) bool { return true }, // a foreign one is told so by a close code
	Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
		refused := fault.New(fault.InvalidInput).Say("The WebSocket handshake is not valid.")
		if status >= http.StatusInternalServerError {
			refused = fault.Wrap(fault.InternalError, reason)
		}
		_ = rest.Refuse(w, refused) // a fault with a fixed text is always JSON
	},
}

// ServeHTTP opens a connection (contract §8). A request that does not ask for a WebSocket is answered upgrade_required; whatever else
// is wrong completes the handshake and closes with a code, because that is what a WebSocket client can read.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) || r.Header.Get("Sec-Websocket-Version") != "13" {
		w.Header().Add("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-Websocket-Version", "13")
		_ = rest.Refuse(w, fault.New(fault.UpgradeRequired)) // as above
		return
	}
	s := &session{hub: h}
	s.gate.heard = s.heard
	process, refused := h.admit(r, s)
	upgraded, err := upgrader.Upgrade(hijacker{w, s}, r, http.Header{"X-Request-Id": w.Header()["X-Request-Id"]})
	if err != nil {
		h.leave(s)
		return
	}
	s.version = events.FirstVersion
	if named, ok := versions[upgraded.Subprotocol()]; ok {
		s.version = named
	}
	switch {
	case refused != nil:
		go s.finish(*refused)
	case !h.enter(s, process):
		h.leave(s)
		s.slot = events.Slot{}
		go s.finish(errAway)
	default:
		s.start()
	}
}

// admit decides who may connect and leases the session's slot, under the number of the process that is returned.
func (h *Hub) admit(r *http.Request, s *session) (int32, *closure) {
	ctx, cancel := context.WithTimeout(r.Context(), handshakeTimeout)
	defer cancel()
	h.mu.RLock()
	draining := h.draining
	h.mu.RUnlock()
	token, bearer := rest.Bearer(r.Header)
	switch {
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return 0, &errQuery
	case h.foreign(r):
		return 0, &errOrigin
	case draining:
		return 0, &errDraining
	case !bearer:
		return 0, &errIdentity
	}
	process := h.awaitProcess(ctx)
	if process == 0 {
		return 0, &errAway
	}
	v, err := h.Graph.Bots.Admit(ctx, token, false)
	if err != nil {
		return 0, h.refusal(err)
	}
	slot := events.Slot{ID: uuid.Must(uuid.NewV7()), BotID: v.BotID, TokenID: v.TokenID}
	verdict, err := h.lease(ctx, process, slot)
	switch {
	case err != nil:
		// Whether the lease was made is unknown.
		h.slots.ask(slot.ID)
		return 0, h.refusal(err)
	case verdict == events.Full:
		return 0, &errFull
	case verdict == events.Lost:
		return 0, &errAway
	}
	s.slot = slot
	return process, nil
}

func (h *Hub) lease(ctx context.Context, process int32, slot events.Slot) (verdict events.Verdict, err error) {
	for _, wait := range slotWaits {
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

// refusal is the close code of a failed admission.
func (h *Hub) refusal(err error) *closure {
	known := fault.From(err)
	if refused, ok := refusals[known.Code]; ok {
		return &refused
	}
	h.complain("event socket turns a client away", err)
	return &errAway
}

// foreign tells whether a browser's page of another origin asks, which is not among the allowed ones.
func (h *Hub) foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		from, err := url.Parse(origin)
		own := err == nil && from.Host != "" && strings.EqualFold(from.Host, r.Host)
		if !own && !h.allowed(strings.ToLower(origin)) {
			return true
		}
	}
	return false
}

func (h *Hub) allowed(origin string) bool {
	for _, pattern := range h.AllowedOrigins {
		before, after, wild := strings.Cut(strings.ToLower(pattern), "*")
		if origin == before+after && !wild {
			return true
		}
		if wild && len(origin) >= len(before)+len(after) && strings.HasPrefix(origin, before) && strings.HasSuffix(origin, after) {
			return true
		}
	}
	return false
}

// hijacker gives the connection that the upgrade takes over to a session.
type hijacker struct {
	http.ResponseWriter
	session *session
}

// Hijack is called by the upgrade.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.session.gate.Conn = conn
	if h.session.socket, err = socketOf(conn); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, buffered, nil
}
