package socket_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
	"stoa/rest/socket"
)

// often makes comments so frequent that tests can wait for them.
func often(c *socket.Config) { c.PingInterval = 60 * time.Millisecond }

func TestAStreamSendsTheEventsOfASocket(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo()
	h.Graph = here.Graph
	one, agent := h.friends()
	here.tell(agent, 1, 2, 3)
	h.Sent(one, agent)
	stream, conn := there.stream(agent.Token, "", ""), there.dial(agent.Token)
	for i := range 6 {
		if i == 4 {
			here.tell(agent, 5)
			here.tell(agent, 6)
		}
		s, a := stream.event(), conn.arrive()
		require.NoError(t, a.err)
		require.JSONEq(t, fmt.Sprintf(`{"type":"event","event_id":%q,"kind":%q,"payload":%s}`, s.id, s.kind, s.data), string(a.raw))
	}
}

func TestAStreamResumesBehindItsLastEvent(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo(often)
	agent, stranger := h.Agent(), h.Agent()
	here.tell(agent, 1, 2, 3)
	here.tell(stranger, 9)
	first := here.stream(agent.Token, "", "")
	one, two := first.event(), first.event()
	first.gets(3)
	first.leave()

	resumed := there.stream(agent.Token, "", two.id)
	resumed.gets(3)
	here.tell(agent, 4)
	resumed.gets(4)
	resumed.silent()
	require.EqualValues(t, 4, h.unacknowledged(agent), "resuming acknowledges nothing")
	resumed.leave()
	require.Len(t, here.poll(agent.Token, "").page(t).Events, 4)

	// The id of an acknowledged event, another agent's event id and an invalid id do not change where the stream begins.
	here.acknowledge(agent.Token, one.id)
	foreign := here.poll(stranger.Token, "").page(t).ids()[0]
	for _, behind := range []string{"", one.id, foreign, uuid.NewString(), "x"} {
		again := here.stream(agent.Token, "", behind)
		again.gets(2, 3, 4)
		again.leave()
	}
}

// A stream that resumes after an event still gets an earlier event that becomes visible late.
func TestAStreamResumesAndGetsLateCommits(t *testing.T) {
	t.Parallel()
	_, p, agent := newCluster(t).withAgent(often)
	early := p.hold(agent, 1)
	p.tell(agent, 2)
	first := p.stream(agent.Token, "", "")
	two := first.event()
	require.Equal(t, 2, two.version(t))
	first.leave()
	resumed := p.stream(agent.Token, "", two.id)
	resumed.silent()
	early.end(t)
	resumed.gets(1)
	resumed.silent()
}

// Events received before a resume count, so a client never has more than a window of unacknowledged events.
func TestAStreamKeepsAWindowInFlight(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo(often)
	agent := h.Agent()
	here.tell(agent, many(events.WindowSize+20)...)
	stream := here.stream(agent.Token, "", "")
	ids := stream.gets(many(events.WindowSize)...)
	stream.silent()
	here.acknowledge(agent.Token, ids[:5]...)
	ids = append(ids, stream.gets(after(events.WindowSize, 5)...)...)
	stream.silent()
	there.acknowledge(agent.Token, ids[5])
	stream.gets(events.WindowSize + 6) // acknowledged on another process
	stream.leave()
	resumed := there.stream(agent.Token, "", ids[len(ids)-1])
	resumed.gets(events.WindowSize + 6)
	resumed.silent()
	here.acknowledge(agent.Token, ids[6])
	resumed.gets(events.WindowSize + 7)
}

func TestAStreamEndsAfterItsLife(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess(often)
	p.hub.SetStreamLife(time.Millisecond)
	p.stream(h.Agent().Token, "", "").ended()
	require.Eventually(t, func() bool { return p.closed(1000) == 1 }, slack.TestWait, time.Millisecond)
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
}

func TestAStreamThatIsNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent(quotas(1, 1))
	p.tellMuch(agent)
	deaf, err := smallDialer.DialContext(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(p.api, "http://"), "/api/v1"))
	require.NoError(t, err)
	defer deaf.Close()
	graphtest.OK(t)(io.WriteString(deaf, "GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+agent.Token+"\r\n\r\n"))
	require.Eventually(t, func() bool { return p.closed(0) == 1 }, slack.TestWait, time.Millisecond)
	require.Zero(t, p.figure("stoa_sockets_open"))
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
	require.EqualValues(t, 16, h.unacknowledged(agent))
}

// The server ignores bytes that a client sends on a stream.
func TestAStreamIgnoresBytesOfItsClient(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p, agent := h.process(often), h.Agent()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(p.api, "http://"), "/api/v1"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(slack.TestWait)))
	graphtest.OK(t)(io.WriteString(conn, "GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+agent.Token+"\r\n\r\nhello"))
	require.Eventually(t, func() bool { return p.figure("stoa_sockets_open") == 1 }, slack.TestWait, time.Millisecond)
	p.tell(agent, 1)
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if lines.Text() == "event: order.changed" {
			break
		}
	}
	require.NoError(t, lines.Err())
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return p.figure("stoa_sockets_open") == 0 }, slack.TestWait, time.Millisecond)
}

// The listener's timeouts for other requests do not apply to polls and streams that wait.
func TestTimeoutsDoNotEndWaitingRequests(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess(func(c *socket.Config) { c.PingInterval = slack.Of(time.Second) })
	short := slack.Of(200 * time.Millisecond)
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Header, timeouts.Idle, timeouts.Body.Time, timeouts.Answer.Time = short, short, short, short
	logger := slog.New(slog.DiscardHandler)
	server := graphtest.Got(httpserver.Listen(t.Context(), "127.0.0.1:0", p.handler, httpserver.Config{Logger: logger, Timeouts: &timeouts}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
	})
	p.api = "http://" + server.Address() + "/api/v1"
	one, other := h.Agent(), h.Agent()
	answered, stream := p.polling(one.Token), p.stream(other.Token, "", "")
	stream.silent()
	p.tell(other, 1)
	stream.gets(1)
	p.tell(one, 1)
	require.Equal(t, []int{1}, await(t, answered).page(t).versions())
}

// An agent polls, streams and connects on processes that are killed again and again, and acknowledges its events on different
// processes. It gets every event, and in the end none is left.
func TestNothingIsLostOverKilledProcesses(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	stays := h.process()
	agent := h.Agent()
	const rounds, each = 6, 5
	got := make(map[int]string)
	told, last := 0, ""
	for round := range rounds {
		p := h.process(often)
		var tellers [each]func()
		for i := range tellers {
			told++
			version := told
			tellers[i] = func() { stays.tell(agent, version) }
		}
		tellers[0]()
		switch round % 3 {
		case 0:
			for _, tell := range tellers[1:] {
				tell()
			}
			found := p.poll(agent.Token, "wait=50&limit=3").page(t)
			for i, version := range found.versions() {
				got[version] = found.ids()[i]
			}
		case 1:
			stream := p.stream(agent.Token, "", last)
			for _, tell := range tellers[1:] {
				tell()
			}
			for range each {
				s := stream.event()
				got[s.version(t)], last = s.id, s.id
			}
		default:
			conn := p.dial(agent.Token)
			for _, tell := range tellers[1:] {
				tell()
			}
			for range each {
				f := conn.event(events.OrderChanged)
				got[f.version()] = f.EventID
			}
		}
		p.kill()
		if id, received := got[round+1]; received {
			stays.acknowledge(agent.Token, id)
		}
	}
	for h.unacknowledged(agent) > 0 {
		found := stays.poll(agent.Token, "wait=50&limit=7").page(t)
		for i, version := range found.versions() {
			if id, received := got[version]; received {
				require.Equal(t, id, found.ids()[i], "always under the same id")
			}
			got[version] = found.ids()[i]
		}
		stays.acknowledge(agent.Token, found.ids()...)
	}
	require.Len(t, got, told)
}
