package attachments_test

import (
	"context"
	"image"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
)

// hold takes places among the uploads under way without an upload.
func (w *world) hold(by uuid.UUID, n int, slow bool) {
	for range n {
		w.Exec("INSERT INTO upload_reservations (id, agent_id, bytes, files, expires_at, slow) VALUES ($1, $2, 0, 0, stoa_now() + interval '1 day', $3)",
			uuid.Must(uuid.NewV7()), by, slow)
	}
}

// While all places are taken, an agent without a place takes the place of a slow upload, or else of the youngest upload of an
// agent with more than two; no other agent does.
func TestAnAgentWithoutAnUploadTakesAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{UploadsPerAgent: 5, Uploads: 8}))
	many, two, slow := w.Agent(), w.Agent(), w.Agent()
	w.hold(many.ID, 4, false)
	w.hold(slow.ID, 1, true)
	w.hold(two.ID, 2, false)
	living := func(agent *graphtest.Agent) int64 {
		return w.Count("SELECT count(*) FROM upload_reservations WHERE agent_id = $1 AND NOT ended", agent.ID)
	}
	w.hold(uuid.New(), 1, false)
	come := func() error {
		agent := w.Agent()
		draft, err := w.Attachments.NewDraft(agent.Ctx, 10)
		if err == nil {
			draft.Discard()
			w.hold(agent.ID, 1, false)
		}
		return err
	}
	for _, want := range [][3]int64{{4, 2, 0}, {3, 2, 0}, {2, 2, 0}} {
		require.NoError(t, come())
		require.Equal(t, want, [3]int64{living(many), living(two), living(slow)})
	}
	graphtest.RequireFault(t, come(), fault.UploadBusy)
	w.hold(slow.ID, 1, true)
	graphtest.Refused(t, fault.UploadBusy)(w.Attachments.NewDraft(two.Ctx, 10))
	require.EqualValues(t, 1, living(slow), "an agent that holds some waits")
}

// An upload that has lost its place stops, leaves nothing, and may be sent again.
func TestAnUploadThatLostItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 100, 100))
	draft := w.begin(t, agent, len(f.bytes))
	graphtest.OK(t)(draft.Write(f.bytes[:1000]))
	lost := make(chan struct{})
	draft.WhenTaken(func() { close(lost) })
	require.NoError(t, draft.Taken())
	w.Exec("UPDATE upload_reservations SET ended = true")
	select {
	case <-lost:
	case <-time.After(slack.TestWait):
		require.Fail(t, "it goes on")
	}
	require.Positive(t, graphtest.RequireFault(t, draft.Taken(), fault.UploadBusy).Retry())
	draft.Discard()
	require.Zero(t, w.underWay())
	w.keeps(t, 0)
	graphtest.OK(t)(w.send(agent, f))
}

// turns is an inspector that reports the width of each picture and waits for permission.
type turns struct{ widths, leave chan int }

func (i turns) inspect(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	shape, _, err := image.DecodeConfig(original)
	if err != nil {
		return attachments.Report{}, err
	}
	i.widths <- shape.Width
	<-i.leave
	if _, err := original.Seek(0, 0); err != nil {
		return attachments.Report{}, err
	}
	report, err := inspectHead(ctx, original, purpose)
	report.Processor = time.Millisecond
	return report, err
}

// Agents take turns: an agent without an inspection comes before another file of an agent that has or had one.
func TestInspectionsGoRoundByAgent(t *testing.T) {
	t.Parallel()
	i := turns{make(chan int, 10), make(chan int)}
	w := newWorldWith(t, i.inspect, graphtest.WithQuotas(limits.Quotas{Inspections: 2}))
	t.Cleanup(func() { close(i.leave) })
	var group sync.WaitGroup
	pending := int64(0)
	send := func(by *graphtest.Agent, width int) {
		group.Go(func() { graphtest.OK(t)(w.send(by, newForm(attachments.Order, picture(t, width, 8)))) })
		pending++
		w.awaitPending(t, pending)
	}
	many, one, other := w.Agent(), w.Agent(), w.Agent()
	send(many, 11)
	require.Equal(t, 11, <-i.widths)
	send(many, 12)
	require.Equal(t, 12, <-i.widths, "nobody else waits")
	send(many, 13)
	send(many, 14)
	send(one, 21)
	send(one, 22)
	send(other, 31)
	i.leave <- 0
	first := <-i.widths
	require.Contains(t, []int{21, 22, 31}, first, "the agent named many had two")
	i.leave <- 0
	second := <-i.widths
	require.Contains(t, []int{21, 22, 31}, second)
	require.NotEqual(t, first/10, second/10, "the one has one, and the other none")
	i.leave <- 0
	<-i.widths
	for range 2 {
		i.leave <- 0
		<-i.widths
	}
	i.leave <- 0
	i.leave <- 0
	group.Wait()
}

// While the queue is full, an agent without a waiting upload replaces the youngest upload of an agent with several.
func TestAnAgentWithoutAnInspectionIsLetIn(t *testing.T) {
	t.Parallel()
	g := &gate{open: make(chan struct{})}
	w := newWorldWith(t, g.inspect, graphtest.WithQuotas(limits.Quotas{Inspections: 2}))
	results := make(chan error, 20)
	var group sync.WaitGroup
	defer group.Wait()
	defer close(g.open)
	send := func(by *graphtest.Agent, n int) {
		for range n {
			group.Go(func() { results <- graphtest.Err(w.send(by, newForm(attachments.Order, picture(t, 8, 8)))) })
		}
	}
	one, two, third := w.Agent(), w.Agent(), w.Agent()
	send(one, 2)
	w.awaitPending(t, 2)
	g.await(t, 2)
	send(one, 4)
	w.awaitPending(t, 6)
	send(one, 1)
	graphtest.RequireFault(t, <-results, fault.UploadBusy) // four of an agent wait, although there are places
	w.awaitPending(t, 6)
	send(two, 4)
	w.awaitPending(t, 10)
	send(third, 1)
	require.Positive(t, graphtest.RequireFault(t, <-results, fault.UploadBusy).Retry())
	w.awaitPending(t, 10)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE owner_id = $1", third.ID))
	send(third, 1)
	graphtest.RequireFault(t, <-results, fault.UploadBusy)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE owner_id = $1", third.ID), "it holds one")
}
