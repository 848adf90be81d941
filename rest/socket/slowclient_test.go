package socket_test

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/socket"
)

// tellMuch writes events that exceed the system's buffers between the server and a client of deaf.
func (p *process) tellMuch(agent *graphtest.Agent) {
	p.t.Helper()
	payload := events.OrderPayload{OrderID: agent.ID, Status: strings.Repeat("x", 2*sendBuffer)}
	list := make([]events.Event, 16)
	for i := range list {
		list[i] = events.Event{Recipient: agent.ID, Kind: events.OrderChanged, Payload: payload}
	}
	p.tellEvents(list...)
}

// deaf connects and never reads; the client's receive buffer is small.
func (p *process) deaf(agent *graphtest.Agent) {
	p.t.Helper()
	dialer := websocket.Dialer{HandshakeTimeout: slack.TestWait, NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, sendBuffer)
			})
		}}
		return small.DialContext(ctx, network, address)
	}}
	conn, response, err := dialer.Dial(p.url, bearer(agent.Token))
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	p.t.Cleanup(func() { _ = conn.Close() })
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p := h.process(quotas(1, 1))
	agent := h.Agent()
	p.tellMuch(agent)
	p.deaf(agent)
	// The only slot is freed although the client sends nothing.
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM socket_leases") == 0 }, slack.TestWait, 5*time.Millisecond)
	require.Eventually(t, func() bool { return p.hub.Stats().Open == 0 }, slack.TestWait, 5*time.Millisecond)
	again := p.dial(agent.Token)
	for range 16 {
		require.NoError(t, again.arrive().err) // no event has such a status
	}
}

// More clients than may use the database at once do not read for the whole test. Other clients still get their events.
func TestClientsThatDoNotReadHoldNoPlace(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p := h.process()
	p.hub.SetWriteTimeout(10 * slack.TestWait)
	agent, deaf := h.Agent(), h.Agent()
	conn := p.dial(agent.Token)
	conn.quiet()
	p.tellMuch(deaf)
	for range 2 * socket.StatementsAtOnce {
		p.deaf(deaf)
	}
	p.tell(agent, 1)
	require.Equal(t, 1, conn.event(events.OrderChanged).version())
	require.Equal(t, 2*socket.StatementsAtOnce+1, p.hub.Stats().Open)
}
