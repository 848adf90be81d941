package socket_test

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
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
		require.Equal(t, conn.next(), stream.next())
	}
}

func TestAStreamResumesBehindItsLastEvent(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo(often)
	agent, stranger := h.Agent(), h.Agent()
	here.tell(agent, 1, 2, 3)
	here.tell(stranger, 9)
	first := here.stream(agent.Token, "", "")
	ids := first.gets(1, 2, 3)
	first.leave()

	resumed := there.stream(agent.Token, "", ids[1])
	resumed.gets(3)
	here.tell(agent, 4)
	resumed.gets(4)
	resumed.silent()
	require.EqualValues(t, 4, h.unacknowledged(agent), "resuming acknowledges nothing")
	resumed.leave()
	require.Len(t, here.poll(agent.Token, "").page(t).Events, 4)

	// The id of an acknowledged event, another agent's event id and an invalid id do not change where the stream begins.
	here.acknowledge(agent.Token, ids[0])
	foreign := here.poll(stranger.Token, "").page(t).ids()[0]
	for _, behind := range []string{"", ids[0], foreign, uuid.NewString(), "x"} {
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
	two := first.gets(2)[0]
	first.leave()
	resumed := p.stream(agent.Token, "", two)
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

// The server ignores bytes that a client sends on a stream.
func TestAStreamIgnoresBytesOfItsClient(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p, agent := h.process(often), h.Agent()
	conn, err := net.Dial("tcp", hostOf(t, p.url))
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
	keep := func(version int, id string) {
		require.Equal(t, id, cmp.Or(got[version], id), "always under the same id")
		got[version] = id
	}
	keepAll := func(found page) {
		for i, version := range found.versions() {
			keep(version, found.ids()[i])
		}
	}
	last := ""
	for round := range rounds {
		p := h.process(often)
		versions := after(round*each, each)
		stays.tell(agent, versions[0])
		switch round % 3 {
		case 0:
			stays.tell(agent, versions[1:]...)
			keepAll(p.poll(agent.Token, "wait=50&limit=3").page(t))
		case 1:
			stream := p.stream(agent.Token, "", last)
			stays.tell(agent, versions[1:]...)
			for range each {
				f := stream.event(events.OrderChanged)
				keep(f.version(), f.EventID)
				last = f.EventID
			}
		default:
			conn := p.dial(agent.Token)
			stays.tell(agent, versions[1:]...)
			for range each {
				f := conn.event(events.OrderChanged)
				keep(f.version(), f.EventID)
			}
		}
		p.kill()
		if id, received := got[round+1]; received {
			stays.acknowledge(agent.Token, id)
		}
	}
	for h.unacknowledged(agent) > 0 {
		found := stays.poll(agent.Token, "wait=50&limit=7").page(t)
		keepAll(found)
		stays.acknowledge(agent.Token, found.ids()...)
	}
	require.Len(t, got, rounds*each)
}
