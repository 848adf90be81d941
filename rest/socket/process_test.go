package socket_test

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/rest/socket"
)

func TestManyAgentsAreWokenByOneStatement(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo()
	agent := h.Agent()
	conn := there.connect(agent.Token)
	// The agents fill several notices of several statements.
	here.hub.Wake(strangers(12_000))
	here.tell(agent, 1)
	conn.gets(1)
	require.Eventually(t, func() bool { return there.figure("stoa_wakeups_heard_total") >= 12_000 }, slack.TestWait, time.Millisecond)

	// If there are too many agents to list, everyone is woken.
	here.hub.Wake(strangers(60_000))
	here.tell(agent, 2)
	conn.gets(2)
}

func strangers(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
	}
	return ids
}

func TestALostWakeUpCostsNoEvent(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	agent, absent := h.Agent(), h.Agent()
	conn := p.connect(agent.Token)
	p.withoutWakeUps().tell(agent, 1)
	p.withoutWakeUps().tell(absent, 2)
	woken := func() int { return graphtest.Got(p.Events.WakeWaiting(context.Background()))(t) }
	require.Equal(t, 1, woken(), "who is not connected is not woken")
	ids := conn.gets(1)
	h.Shift(time.Minute)
	require.Zero(t, woken(), "an event that has arrived wakes nobody")
	conn.acked(ids[0])
	require.Zero(t, woken())
}

func TestLostNoticesOfADyingProcessLoseNoEvent(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo()
	agent := h.Agent()
	conn := here.connect(agent.Token)
	require.Eventually(t, func() bool { return here.figure("stoa_processes") == 2 }, slack.TestWait, time.Millisecond)
	there.withoutWakeUps().tell(agent, 1)
	there.kill()
	conn.gets(1)
}

// withoutWakeUps returns the process as if it died between a commit and the wake-up.
func (p *process) withoutWakeUps() *process {
	g := *p.Graph
	g.Events = &events.API{DB: p.Events.DB, Wake: func([]uuid.UUID) {}}
	return &process{Graph: &g, t: p.t}
}

// drain begins the shutdown of the process, and returns a channel that is closed at its end.
func (p *process) drain() <-chan struct{} {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.hub.Drain(context.Background())
	}()
	return drained
}

// endings are ways to end the token of an agent, with the texts of the close frames.
var endings = map[string]struct {
	end  func(*cluster, *process, *graphtest.Agent)
	text string
}{
	"rotation": {func(h *cluster, p *process, agent *graphtest.Agent) {
		graphtest.OK(h.t)(p.Auth.RotateToken(agent.Ctx))
	}, `^This token was replaced at \S+Z\.$`},
	"revocation": {func(h *cluster, p *process, agent *graphtest.Agent) {
		graphtest.OK(h.t)(p.Auth.RevokeToken(agent.Ctx))
	}, `^This token was revoked at \S+Z\.$`},
	// Other processes are not notified, as if a process without a Hub made the change.
	"suspension": {func(h *cluster, _ *process, agent *graphtest.Agent) {
		h.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", agent.ID)
	}, "^the token has ended$"},
	"deletion": {func(h *cluster, _ *process, agent *graphtest.Agent) {
		h.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", agent.ID)
	}, "^the token has ended$"},
	"expiry": {func(h *cluster, _ *process, agent *graphtest.Agent) {
		h.Exec("UPDATE tokens SET expires_at = stoa_now() + interval '1 second' WHERE bot_id = $1", agent.ID)
		h.Shift(time.Second)
	}, `^This token expired at \S+Z\.$`},
}

func TestConnectionsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, here, there := newCluster(t).withTwo()
			agent, bystander := h.Agent(), h.Agent()
			near, far := here.connect(agent.Token), there.connect(agent.Token)
			answered, stream := here.polling(agent.Token), there.stream(agent.Token, "", "")
			other, waiting := there.connect(bystander.Token), there.polling(bystander.Token)
			c.end(h, here, agent)
			for _, conn := range []*client{near, far} {
				closed := conn.closed()
				require.Equal(t, 4401, closed.Code)
				require.Regexp(t, c.text, closed.Text)
			}
			r := await(t, answered)
			require.Equal(t, http.StatusUnauthorized, r.status)
			require.Equal(t, "unauthorized", r.code(t))
			require.Equal(t, web.WrongToken, r.header.Get("WWW-Authenticate"))
			stream.ended()
			other.quiet()
			here.tell(bystander, 1)
			require.Equal(t, []int{1}, await(t, waiting).page(t).versions())
			require.EqualValues(t, 1, h.Count("SELECT count(*) FROM socket_leases"))
		})
	}
}

func TestOtherTokensOfTheAgentKeepTheirConnections(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	kept := p.dial(agent.Token)
	v := viewer.From(agent.Ctx)
	second := uuid.New()
	h.Exec("INSERT INTO tokens (id, bot_id, hash, created_at, expires_at) SELECT $1, bot_id, '\\x00', created_at, expires_at FROM tokens WHERE id = $2", second, v.TokenID)
	v.TokenID = second
	graphtest.OK(t)(p.Auth.RevokeToken(viewer.With(context.Background(), v)))
	kept.quiet()
}

func TestSlotsHoldAcrossProcessesAndDieWithTheirs(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo(quotas(2, 3))
	one, other := h.Agent(), h.Agent()
	first := here.connect(one.Token)
	answered := there.polling(one.Token)
	require.Equal(t, 4429, here.dial(one.Token).code())
	require.Equal(t, 4429, there.dial(one.Token).code())
	stream := there.stream(other.Token, "", "")
	require.Equal(t, 4429, here.dial(other.Token).code(), "the server is full")

	there.kill()
	require.NotEqual(t, http.StatusOK, (<-answered).status)
	require.Error(t, stream.arrive().err)
	require.EqualValues(t, 3, h.Count("SELECT count(*) FROM socket_leases"), "it gave nothing back")
	here.dial(one.Token).quiet()
	here.dial(other.Token).quiet()
	require.Equal(t, 4429, here.dial(other.Token).code())
	require.EqualValues(t, 2, graphtest.Got(here.Events.DeleteDeadSlots(context.Background()))(t))
	require.EqualValues(t, 3, h.Count("SELECT count(*) FROM socket_leases"))
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM socket_processes"))
	require.EqualValues(t, 3, h.Count("SELECT open FROM socket_processes"))

	// The slot of a closed connection is free when the client sees the end, or soon after.
	first.hangUp()
	broken := here.connect(other.Token)
	require.NoError(t, broken.UnderlyingConn().Close())
	here.dial(one.Token).quiet()
}

func TestALostListenerIsReplaced(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo(quotas(2, 0))
	agent := h.Agent()
	conn := there.connect(agent.Token)
	process := h.Count("SELECT process FROM socket_leases")
	h.Exec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid = $2
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, events.ProcessLock, process)
	require.Eventually(t, func() bool {
		return h.Count("SELECT count(*) FROM socket_leases WHERE process > $1", process) == 1
	}, slack.TestWait, 5*time.Millisecond, "the lease is taken again under another number")
	there.linked()
	here.tell(agent, 1)
	require.Equal(t, 1, conn.event(events.OrderChanged).version(), "the connection stayed open and is heard of")
	second := there.dial(agent.Token)
	second.event(events.OrderChanged)
	require.Equal(t, 4429, there.dial(agent.Token).code(), "both leases count")
	second.hangUp()
	there.dial(agent.Token).event(events.OrderChanged)
}

func TestEventsWithoutAListenerAreDeliveredLater(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	conn := p.connect(agent.Token)
	// Without the sequence a process gets no number, and so no new connection for notices.
	h.Exec("ALTER SEQUENCE socket_process RENAME TO hidden")
	h.Exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())", events.ProcessLock)
	require.Eventually(t, func() bool { return !p.isLinked() }, slack.TestWait, time.Millisecond)
	p.withoutWakeUps().tell(agent, 1)
	conn.quiet()
	require.Equal(t, 1013, p.dial(agent.Token).code(), "no client is admitted whose slot would not count")
	h.Exec("ALTER SEQUENCE hidden RENAME TO socket_process")
	conn.gets(1)
	p.linked()
	p.dial(agent.Token).event(events.OrderChanged)
}

// warnings counts the log lines of a process: at most one a second about the database.
type warnings struct{ atomic.Int64 }

func (w *warnings) Write(line []byte) (int, error) {
	w.Add(1)
	return len(line), nil
}

// As soon as the database answers, a load balancer sends clients again; none of them is refused.
func TestClientsAreAdmittedOnceTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	said := new(warnings)
	p := h.process(func(c *socket.Config) { c.Logger = slog.New(slog.NewTextHandler(said, nil)) })
	agent := h.Agent()
	restore := h.Outage()
	require.Eventually(t, func() bool { return !p.isLinked() && said.Load() > 3 }, slack.TestWait, time.Millisecond,
		"pauses that double have become the longest")
	restore()
	p.tell(agent, 1)
	p.dial(agent.Token).event(events.OrderChanged)
}

// A process that shuts down closes its sockets, answers its polls and ends its streams; no request fails, old or new.
func TestShutdown(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	var conns []*client
	for range 20 {
		conns = append(conns, p.connect(h.Agent().Token))
	}
	var polls []<-chan reply
	var streams []*reader
	for range 5 {
		polls = append(polls, p.polling(h.Agent().Token))
		streams = append(streams, p.stream(h.Agent().Token, "", ""))
	}
	late, drained := h.Agent(), p.drain()
	for _, answered := range polls {
		require.Empty(t, await(t, answered).page(t).Events)
	}
	for _, stream := range streams {
		stream.ended()
	}
	for _, conn := range conns {
		require.Equal(t, 1013, conn.code())
	}
	require.Equal(t, 1013, p.dial(late.Token).code())
	<-drained
	require.Zero(t, p.figure("stoa_sockets_open"))
	all := int64(len(conns) + len(polls) + len(streams) + 1)
	require.Eventually(t, func() bool { return p.closed(1013) == all }, slack.TestWait, time.Millisecond)
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
	require.Empty(t, p.poll(late.Token, "wait=50").page(t).Events)
	ended := p.request(context.Background(), http.MethodGet, "/events/stream", late.Token, "")
	require.NoError(t, ended.err)
	require.Equal(t, http.StatusOK, ended.status)
	require.Empty(t, ended.raw)
	p.tell(late, 1)
	require.Equal(t, []int{1}, p.poll(late.Token, "wait=50").page(t).versions())
}

func TestAnOpenConnectionIsActivity(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	agent, idle := h.Agent(), h.Agent()
	p.dial(agent.Token).quiet()
	h.Shift(time.Hour)
	p.hub.NoteActivity(t.Context())
	const fresh = "SELECT count(*) FROM bots WHERE id = $1 AND last_active_at > stoa_now() - interval '1 minute'"
	require.EqualValues(t, 1, h.Count(fresh, agent.ID))
	require.Zero(t, h.Count(fresh, idle.ID))
}

// TestNothingIsLeftRunning cannot be parallel: it counts goroutines.
func TestNothingIsLeftRunning(t *testing.T) { //nolint:paralleltest // it counts goroutines
	h := newCluster(t)
	before := runtime.NumGoroutine()
	p := h.process()
	agent := h.Agent()
	for range 20 {
		conn := p.dial(agent.Token)
		p.tell(agent, 1)
		f := conn.next()
		conn.ack(f.EventID)
		conn.hangUp()
		p.dial("nobody").code()
	}
	left := p.dial(agent.Token)
	p.hub.Drain(context.Background())
	require.Equal(t, 1013, left.code())
	p.kill()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+3 }, slack.TestWait, 10*time.Millisecond,
		"a few more are the database pool's")
}
