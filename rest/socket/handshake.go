package socket

import (
	"bufio"
	"context"
	"net"
	"net/http"

	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// versions maps each subprotocol to its version of the channel. A client without a subprotocol uses the first version.
var versions = map[string]int{"stoa.events.v2": events.LatestVersion, "stoa.events.v1": events.FirstVersion}

// upgrader answers handshakes. It uses the buffers of net/http.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: admitTimeout,
	Subprotocols:     []string{"stoa.events.v2", "stoa.events.v1"},
	CheckOrigin:      func(*http.Request) bool { return true }, // authorize refuses a foreign origin with a close code
	Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
		refused := fault.New(fault.InvalidInput).Say("The WebSocket handshake is not valid.")
		if status >= http.StatusInternalServerError {
			refused = fault.Wrap(fault.InternalError, reason)
		}
		_ = web.WriteError(w, refused) // as below
	},
}

// ServeHTTP opens a connection (§6). A request that does not ask for a WebSocket fails with upgrade_required. Any other refusal
// completes the handshake and closes with a code, because a WebSocket client can read the code.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The library would also upgrade HTTP/1.0, which has no upgrades (RFC 9110 §7.8).
	if !r.ProtoAtLeast(1, 1) || !websocket.IsWebSocketUpgrade(r) || r.Header.Get("Sec-Websocket-Version") != "13" {
		w.Header().Add("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-Websocket-Version", "13")
		_ = web.WriteError(w, fault.New(fault.UpgradeRequired)) // a fault with a fixed text is always JSON
		return
	}
	s := new(socket)
	s.begin(h, s, socketPingRounds)
	if refused := h.authorize(r, s); refused != nil {
		s.close(*refused)
	}
	upgraded, err := upgrader.Upgrade(hijacker{w, s}, r, http.Header{web.RequestIDHeader: w.Header()[web.RequestIDHeader]})
	if err != nil {
		s.close(errBroken)
		h.unregister(&s.session)
		h.finished(&s.session, errBroken)
		return
	}
	s.attach(upgraded)
	go s.run()
}

// authorize decides whether the client may connect, and admits the session.
func (h *Hub) authorize(r *http.Request, s *socket) *closeReason {
	ctx, cancel := context.WithTimeout(r.Context(), admitTimeout)
	defer cancel()
	token, bearer := web.Bearer(r.Header)
	switch {
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return &errQuery
	case h.origins.Foreign(r):
		return &errOrigin
	case h.draining.Load():
		return &errDraining
	case !bearer:
		return &errIdentity
	case h.awaitProcess(ctx) == 0:
		return &errAway
	}
	v, err := h.Graph.Auth.Authenticate(ctx, token, false)
	if err != nil {
		return h.reasonOf(err)
	}
	return h.admit(ctx, v, &s.session)
}

// hijacker wraps the connection that the upgrade takes over in a meteredConn.
type hijacker struct {
	http.ResponseWriter
	socket *socket
}

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.socket.wire = &meteredConn{Conn: conn}
	return h.socket.wire, buffered, nil
}

// meteredConn bounds the bytes that a client may send for one message. The library does not report fragments, and a message may
// have any number of fragments, even empty ones.
type meteredConn struct {
	net.Conn
	// unfinished is the number of bytes since the last whole message or control frame. Only the goroutine that reads uses it.
	unfinished int
}

func (m *meteredConn) Read(p []byte) (int, error) {
	if m.unfinished > maxWire {
		return 0, errLarge
	}
	n, err := m.Conn.Read(p)
	m.unfinished += n
	return n, err
}
