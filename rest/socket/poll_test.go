package socket_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

func TestAPollReturnsTheOldestEvents(t *testing.T) {
	t.Parallel()
	_, p, agent := sharedCluster(t).withAgent()
	p.tell(agent, 1, 2, 3, 4, 5)
	first := p.poll(agent.Token, "limit=2").page(t)
	require.Equal(t, []int{1, 2}, first.versions())
	require.True(t, first.More)
	require.Equal(t, "order.changed", first.Events[0].Kind)
	require.Equal(t, map[string]any{"order_id": agent.ID.String(), "status": "funded", "version": 1.0}, first.Events[0].Payload)
	require.WithinDuration(t, time.Now(), first.Events[0].CreatedAt, time.Hour)
	require.Equal(t, first, p.poll(agent.Token, "limit=2&wait=50").page(t), "reading acknowledges nothing")
	all := p.poll(agent.Token, "limit=5").page(t)
	require.Equal(t, []int{1, 2, 3, 4, 5}, all.versions())
	require.False(t, all.More)
	require.Equal(t, all, p.poll(agent.Token, "").page(t))

	acked, unknown := p.acknowledge(agent.Token, all.ids()[1], all.ids()[0])
	require.Equal(t, []string{all.ids()[1], all.ids()[0]}, acked)
	require.Empty(t, unknown)
	rest := p.poll(agent.Token, "").page(t)
	require.Equal(t, []int{3, 4, 5}, rest.versions())
	p.acknowledge(agent.Token, rest.ids()...)
	require.JSONEq(t, `{"events":[],"more":false}`, string(p.poll(agent.Token, "").raw))
}

// A poll reports other connections of the agent, sockets or polls, on any process, but not itself.
func TestAPollReportsOtherListeners(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo()
	agent := h.Agent()
	others := func() string { return here.poll(agent.Token, "").header.Get("Other-Listeners") }
	require.Empty(t, others())
	answered := there.polling(agent.Token)
	require.Equal(t, "1", others())
	there.dial(agent.Token).quiet()
	require.Equal(t, "2", others())
	require.Empty(t, here.poll(h.Agent().Token, "").header.Get("Other-Listeners"))
	here.tell(agent, 1)
	await(t, answered).page(t)
	require.Equal(t, "1", here.poll(agent.Token, "wait=1").header.Get("Other-Listeners"))
}

func TestAPollEndsWithItsTime(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	began := time.Now()
	r := p.poll(agent.Token, "wait=1")
	require.Empty(t, r.page(t).Events)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.NotEmpty(t, r.header.Get("X-Request-Id"))
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
	require.Zero(t, p.figure("stoa_sockets_open"))
	require.Eventually(t, func() bool { return p.closed(1000) == 1 }, slack.TestWait, time.Millisecond)
}

func TestAPollSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	answered := p.polling(agent.Token)
	restore := h.Outage()
	p.hub.Wake([]uuid.UUID{agent.ID})
	require.Eventually(t, func() bool { return !p.isLinked() }, slack.TestWait, time.Millisecond)
	restore()
	p.linked()
	p.tell(agent, 1)
	require.Equal(t, []int{1}, await(t, answered).page(t).versions())
}

// Waiting polls, streams and sockets share the slots; a poll that does not wait takes none.
func TestPollsStreamsAndSocketsShareTheirSlots(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo(quotas(2, 3))
	agent, other := h.Agent(), h.Agent()
	here.connect(agent.Token)
	answered := there.polling(agent.Token)
	require.Equal(t, 4429, there.dial(agent.Token).code())
	for _, path := range []string{"/events?wait=50", "/events/stream"} {
		full := here.request(context.Background(), http.MethodGet, path, agent.Token, "")
		require.Equal(t, http.StatusTooManyRequests, full.status, "%s", full.raw)
		require.Equal(t, "rate_limited", full.code(t))
		require.Regexp(t, `^[1-9]\d*$`, full.header.Get("Retry-After"))
	}
	require.Empty(t, here.poll(agent.Token, "wait=0").page(t).Events)
	stream := here.stream(other.Token, "", "")
	require.Equal(t, "rate_limited", here.poll(other.Token, "wait=50").code(t), "the server is full")

	here.tell(agent, 1)
	require.Equal(t, []int{1}, await(t, answered).page(t).versions())
	require.Equal(t, []int{1}, here.poll(agent.Token, "wait=50").page(t).versions(), "there is an event, so it does not wait")
	replaced := here.dial(agent.Token)
	replaced.gets(1)
	require.Equal(t, []int{1}, here.poll(agent.Token, "wait=50").page(t).versions(), "it needs no place")
	stream.leave()
	there.dial(other.Token).quiet()
	require.EqualValues(t, 3, h.Count("SELECT count(*) FROM socket_leases"))
}

func TestAClientThatLeavesFreesItsSlot(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan reply, 1)
	go func() { gone <- p.request(ctx, http.MethodGet, "/events?wait=50", agent.Token, "") }()
	stream := p.stream(agent.Token, "", "")
	require.Eventually(t, func() bool { return p.figure("stoa_sockets_open") == 2 }, slack.TestWait, time.Millisecond)
	require.EqualValues(t, 2, h.Count("SELECT count(*) FROM socket_leases"))
	leave()
	stream.leave()
	require.ErrorIs(t, (<-gone).err, context.Canceled)
	require.Eventually(t, func() bool { return p.closed(0) == 2 }, slack.TestWait, time.Millisecond)
	require.Zero(t, p.figure("stoa_sockets_open"))
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
}

// HEAD is answered like GET, but does not wait.
func TestHeadDoesNotWait(t *testing.T) {
	t.Parallel()
	_, p, agent := newCluster(t).withAgent()
	for path, contentType := range map[string]string{"/events?wait=50": "application/json", "/events/stream": "text/event-stream"} {
		r := p.request(context.Background(), http.MethodHead, path, agent.Token, "")
		require.NoError(t, r.err)
		require.Equal(t, http.StatusOK, r.status)
		require.Equal(t, contentType, r.header.Get("Content-Type"))
		require.Empty(t, r.raw)
	}
	require.Zero(t, p.figure("stoa_sockets_opened_total"))
}
