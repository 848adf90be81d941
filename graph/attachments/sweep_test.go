package attachments_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
)

// sweep returns how many files it deleted.
func (w *world) sweep(t *testing.T) int64 {
	t.Helper()
	return graphtest.Got(w.Attachments.Sweep(context.Background()))(t)
}

func (w *world) available(t *testing.T, by *graphtest.Agent, id uuid.UUID) bool {
	t.Helper()
	read := graphtest.Got(w.Attachments.Attachment(by.Ctx, attachments.AttachmentInput{AttachmentID: id.String()}))(t)
	return read.Attachment.Available
}

const day = 24 * time.Hour

func TestUnattachedUploadsEndAfterADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	f := newForm(attachments.Portfolio, picture(t, 8, 8))
	sent := graphtest.Got(w.send(agent, f))(t)
	kept := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8))
	require.NoError(t, w.bind(agent, attachments.Target{Use: attachments.OfPost, ID: uuid.New()}, kept.ID))

	w.Shift(day - time.Minute)
	require.Zero(t, w.sweep(t))
	w.Shift(time.Minute)
	require.EqualValues(t, 1, w.sweep(t))
	require.Zero(t, w.sweep(t))
	w.keeps(t, 3)
	require.Equal(t, [3]int64{kept.SizeBytes + w.Count("SELECT preview_bytes + published_bytes FROM attachments WHERE id = $1", kept.ID), 1, 2}, w.usage(agent.ID))

	read, err := w.Attachments.Attachment(agent.Ctx, attachments.AttachmentInput{AttachmentID: sent.Attachment.ID.String()})
	require.NoError(t, err, "the record stays")
	require.Equal(t, "ready", read.Attachment.Status)
	require.False(t, read.Attachment.Available)
	require.Nil(t, read.Attachment.PreviewURL)
	require.Nil(t, read.Attachment.DownloadURL)
	for _, get := range []func(context.Context, attachments.AttachmentInput) (*attachments.File, error){w.Attachments.AttachmentPreview, w.Attachments.AttachmentDownload} {
		graphtest.Refused(t, fault.NotFound)(get(agent.Ctx, attachments.AttachmentInput{AttachmentID: sent.Attachment.ID.String()}))
	}
	again := graphtest.Got(w.send(agent, f))(t)
	require.True(t, again.IsRepeat())
	require.False(t, again.Attachment.Available)
}

func TestUnboundFilesEndAfterThirtyDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	file := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID
	post := attachments.Target{Use: attachments.OfPost, ID: uuid.New()}
	require.NoError(t, w.bind(agent, post, file))
	w.Shift(100 * day)
	require.Zero(t, w.sweep(t))
	require.NoError(t, w.bind(agent, post))
	w.Shift(30*day - time.Minute)
	require.Zero(t, w.sweep(t))
	require.True(t, w.available(t, agent, file))
	w.Shift(time.Minute)
	require.EqualValues(t, 1, w.sweep(t))
	require.False(t, w.available(t, agent, file))
	graphtest.RequireFault(t, w.bind(agent, post, file), fault.InvalidAttachment)
}

// Files of an order stay until 30 days after its end; open orders and disputes keep theirs.
func TestFilesOfOrdersEndAfterTheirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	inputs := make(map[string]attachments.Target)
	for _, state := range []string{"offered", "funded", "in_progress", "delivered", "disputed", "closed", "cancelled", "rejected"} {
		order := w.Ordered(agent, other, state)
		for _, use := range []attachments.Use{attachments.AsOrderInput, attachments.AsOrderDraft, attachments.AsOrderResult} {
			target := attachments.Target{Use: use, ID: order}
			require.NoError(t, w.bind(agent, target, w.upload(t, agent, attachments.Order, picture(t, 8, 8)).ID))
		}
		inputs[state] = attachments.Target{Use: attachments.AsOrderInput, ID: order}
	}
	w.Shift(30*day - time.Minute)
	require.Zero(t, w.sweep(t))
	w.Shift(time.Minute)
	require.EqualValues(t, 3*3, w.sweep(t))
	w.keeps(t, 5*3*2) // original and preview of the files of open orders
	for state, target := range inputs {
		card := w.bound(t, other.ID, target)[target][0] // a historical card still lists it
		ended := state == "closed" || state == "cancelled" || state == "rejected"
		require.Equal(t, !ended, card.Available, state)
		require.Equal(t, ended, card.DownloadURL == nil, state)
	}
}

// If a sweep stops between bytes and budget, the next sweep finishes it.
func TestSweepGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8))
	w.Shift(day)
	restore := w.breakStore(t)
	require.Error(t, graphtest.Err(w.Attachments.Sweep(context.Background())))
	require.Equal(t, int64(1), w.usage(agent.ID)[1], "budget is held until the bytes are gone")
	restore()
	require.EqualValues(t, 1, w.sweep(t))
	require.Equal(t, [3]int64{0, 0, 1}, w.usage(agent.ID))
}

// Bytes that a crash left without a record are deleted when no upload can still make one.
func TestOrphansAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	kept := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID.String()
	folder := filepath.Join(w.folder, "attachments", "ab")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	for _, name := range []string{uuid.NewString() + ".original", uuid.NewString() + ".original.18f2.tmp", kept + ".original.18f2.tmp", "unknown"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
	}
	orphans := func() int64 { return graphtest.Got(w.Attachments.DeleteOrphans(context.Background()))(t) }
	require.Zero(t, orphans())
	w.Shift(2 * time.Hour)
	require.EqualValues(t, 4, orphans())
	require.ElementsMatch(t, []string{kept + ".original", kept + ".preview", kept + ".published"}, w.stored(t))
}

func TestRemoveTakesAFileFromEveryone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	file := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID
	post := attachments.Target{Use: attachments.OfPost, ID: uuid.New()}
	require.NoError(t, w.bind(agent, post, file))
	remove := func() error {
		return w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error { return attachments.Remove(ctx, tx, file) })
	}
	require.NoError(t, remove())
	require.Empty(t, w.bound(t, agent.ID, post))
	require.False(t, w.available(t, agent, file))
	graphtest.RequireFault(t, remove(), fault.NotFound)
	require.EqualValues(t, 1, w.sweep(t))
	w.keeps(t, 0)
}

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

// await waits until that many inspections run.
func (g *gate) await(t *testing.T, running int64) {
	t.Helper()
	require.Eventually(t, func() bool { return g.running.Load() == running }, slack.TestWait, time.Millisecond)
}

// Two processes share the slots of one server.
func TestTwoRunEightWaitTheRestIsBusy(t *testing.T) {
	t.Parallel()
	g := &gate{open: make(chan struct{})}
	w := newWorldWith(t, g.inspect, graphtest.WithQuotas(limits.Quotas{Inspections: 2}))
	here := w.Attachments
	processes := []*attachments.API{here, {DB: here.DB, Quotas: here.Quotas, Store: here.Store, Enqueue: here.Enqueue}}
	agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	var group sync.WaitGroup
	results := make([]error, 10)
	for i := range results {
		group.Go(func() {
			_, results[i] = sendTo(agents[i%3].Ctx, processes[i%2], newForm(attachments.Order, picture(t, 8, 8)))
		})
	}
	w.awaitPending(t, 10)
	g.await(t, 2)
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM attachments WHERE lease_until > stoa_now()"))

	before, stored := w.usage(uuid.Nil), len(w.stored(t))
	busy := newForm(attachments.Order, picture(t, 8, 8))
	require.Positive(t, graphtest.RequireFault(t, graphtest.Err(w.send(agents[0], busy)), fault.UploadBusy).Retry())
	require.Equal(t, before, w.usage(uuid.Nil), "nothing is recorded")
	w.keeps(t, stored)

	close(g.open)
	group.Wait()
	for _, err := range results {
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, g.most)
	require.NoError(t, graphtest.Err(w.send(agents[0], busy)), "the busy upload may be repeated")
}

func TestTwentyIdenticalUploadsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	same := newForm(attachments.Portfolio, picture(t, 20, 20))
	var made atomic.Int64
	codes := graphtest.AtOnce(20, func(int) error {
		sent, err := w.send(agent, same)
		if err == nil && !sent.IsRepeat() {
			made.Add(1)
		}
		return err
	}).Count()
	require.Equal(t, 20, codes[""]+codes[fault.UploadUnavailable], codes)
	require.EqualValues(t, 1, made.Load())
	require.Equal(t, int64(1), w.usage(agent.ID)[2])
	w.keeps(t, 3) // the bytes of the other uploads are deleted
	require.True(t, graphtest.Got(w.send(agent, same))(t).IsRepeat())
}

func TestUploadThatTakesLongGoesOn(t *testing.T) {
	t.Parallel()
	g := &gate{open: make(chan struct{})}
	w := newWorldWith(t, g.inspect)
	w.Attachments.InspectionWait = 50 * time.Millisecond
	agent := w.Agent()
	slow := newForm(attachments.Order, picture(t, 8, 8))
	graphtest.Refused(t, fault.UploadBusy)(w.send(agent, slow))
	unfinished := graphtest.RequireFault(t, graphtest.Err(w.send(agent, slow)), fault.UploadUnavailable)
	require.Positive(t, unfinished.Retry())
	require.Equal(t, map[string]string{"upload_id": "unfinished"}, unfinished.Fields)
	changed := slow
	changed.bytes = picture(t, 9, 9)
	graphtest.Refused(t, fault.IdempotencyConflict)(w.send(agent, changed))
	id := w.pending()
	graphtest.Refused(t, fault.NotFound)(w.Attachments.Attachment(agent.Ctx, attachments.AttachmentInput{AttachmentID: id.String()}))
	close(g.open)
	require.Eventually(t, func() bool { return graphtest.Err(w.send(agent, slow)) == nil }, slack.TestWait, 20*time.Millisecond)
}
