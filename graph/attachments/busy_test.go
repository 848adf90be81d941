package attachments_test

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
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

// gate blocks inspections and counts how many run concurrently.
type gate struct {
	open    chan struct{}
	entered chan struct{} // receives a value for each inspection, unless it is nil
	running atomic.Int64
	mu      sync.Mutex
	most    int64
}

func (g *gate) inspect(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	now := g.running.Add(1)
	defer g.running.Add(-1)
	g.mu.Lock()
	g.most = max(g.most, now)
	g.mu.Unlock()
	if g.entered != nil {
		g.entered <- struct{}{}
	}
	select {
	case <-g.open:
		return inspectHead(ctx, original, purpose)
	case <-ctx.Done():
		return attachments.Report{}, ctx.Err()
	}
}

func TestTwoRunEightWaitTheRestIsBusy(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t, graphtest.WithQuotas(limits.Quotas{Inspections: 2}))}
	g := &gate{open: make(chan struct{})}
	w.folder = w.InspectWith(g.inspect)
	agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	var group sync.WaitGroup
	results := make([]error, 10)
	for i := range results {
		group.Go(func() { _, results[i] = w.send(agents[i%3], newForm(attachments.Order, picture(t, 8, 8))) })
	}
	pending := func() bool { return w.Count("SELECT count(*) FROM attachments WHERE status = 'pending'") == 10 }
	require.Eventually(t, pending, slack.TestWait, 10*time.Millisecond)
	require.Eventually(t, func() bool { return g.running.Load() == 2 }, slack.TestWait, 10*time.Millisecond)

	before, stored := w.usage(uuid.Nil), len(w.stored(t))
	busy := newForm(attachments.Order, picture(t, 8, 8))
	_, err := w.send(agents[0], busy)
	require.Positive(t, graphtest.RequireFault(t, err, fault.UploadBusy).Retry())
	require.Equal(t, before, w.usage(uuid.Nil), "nothing is recorded")
	w.keeps(t, stored)

	close(g.open)
	group.Wait()
	for _, err := range results {
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, g.most)
	_, err = w.send(agents[0], busy)
	require.NoError(t, err, "the busy upload may be repeated")
}

// Two processes share the slots of one server.
func TestSlotsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t, graphtest.WithQuotas(limits.Quotas{Inspections: 2}))}
	g := &gate{open: make(chan struct{})}
	w.folder = w.InspectWith(g.inspect)
	here := w.Attachments
	there := &attachments.API{DB: here.DB, Quotas: here.Quotas, Store: here.Store, Enqueue: here.Enqueue}
	agent := w.Agent()
	var group sync.WaitGroup
	for i, api := range []*attachments.API{here, there, here, there, here, there} {
		group.Go(func() {
			_, err := sendTo(agent.Ctx, api, newForm(attachments.Order, picture(t, 8+i, 8)))
			require.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { return g.running.Load() == 2 }, slack.TestWait, 10*time.Millisecond)
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM attachments WHERE lease_until > stoa_now()"))
	close(g.open)
	group.Wait()
	require.LessOrEqual(t, g.most, int64(2))
}

func TestTwentyIdenticalUploadsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	same := newForm(attachments.Portfolio, picture(t, 20, 20))
	var (
		group            sync.WaitGroup
		made, unfinished atomic.Int64
	)
	for range 20 {
		group.Go(func() {
			sent, err := w.send(agent, same)
			switch {
			case err == nil && !sent.IsRepeat():
				made.Add(1)
			case err != nil:
				unfinished.Add(1)
				require.Equal(t, fault.UploadUnavailable, fault.From(err).Code)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, made.Load())
	require.Equal(t, int64(1), w.usage(agent.ID)[2])
	w.keeps(t, 3) // the bytes of the other uploads are deleted
	again, err := w.send(agent, same)
	require.NoError(t, err)
	require.True(t, again.IsRepeat())
}

func TestUploadThatTakesLongGoesOn(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t)}
	g := &gate{open: make(chan struct{})}
	w.folder = w.InspectWith(g.inspect)
	w.Attachments.InspectionWait = 50 * time.Millisecond
	agent := w.Agent()
	slow := newForm(attachments.Order, picture(t, 8, 8))
	_, err := w.send(agent, slow)
	graphtest.RequireFault(t, err, fault.UploadBusy)
	_, err = w.send(agent, slow)
	unfinished := graphtest.RequireFault(t, err, fault.UploadUnavailable)
	require.Positive(t, unfinished.Retry())
	require.Equal(t, map[string]string{"upload_id": "unfinished"}, unfinished.Fields)
	changed := slow
	changed.bytes = picture(t, 9, 9)
	_, err = w.send(agent, changed)
	graphtest.RequireFault(t, err, fault.IdempotencyConflict)
	id := w.pending()
	_, err = w.Attachments.Attachment(agent.Ctx, attachments.AttachmentInput{AttachmentID: id.String()})
	graphtest.RequireFault(t, err, fault.NotFound)
	close(g.open)
	require.Eventually(t, func() bool { _, err = w.send(agent, slow); return err == nil }, slack.TestWait, 20*time.Millisecond)
}
