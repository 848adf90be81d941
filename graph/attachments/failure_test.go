package attachments_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/graphtest"
	"stoa/graph/limits"
	"stoa/jobs"
)

// An upload whose worker dies: its lease runs out, and the next process brings it to its end while the client still waits.
func TestCrashedInspectionIsRecovered(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t, graphtest.WithQuotas(limits.Quotas{Inspections: 1}))}
	w.folder = w.InspectWith(jobs.Judge)
	enqueue := w.Attachments.Enqueue
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil } // its worker never answers
	agent, f := w.Agent(), newForm(attachments.Order, picture(t, 8, 8))
	result := make(chan error, 1)
	go func() {
		_, err := w.send(agent, f)
		result <- err
	}()
	require.Eventually(t, func() bool { return w.pending() != uuid.Nil }, time.Minute, 10*time.Millisecond)
	w.Exec("UPDATE attachments SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '20 seconds', attempts = 1")
	w.Attachments.Enqueue = enqueue

	recovered, err := w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Zero(t, recovered, "while the lease lives, so may the worker")
	w.Shift(21 * time.Second)
	recovered, err = w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Equal(t, 1, recovered)
	require.NoError(t, <-result)
	recovered, err = w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Zero(t, recovered)
}

// A file that has taken three workers with it is not tried a fourth time.
func TestFileThatKillsWorkersIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	enqueue := w.Attachments.Enqueue
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil }
	w.Attachments.Patience = time.Millisecond
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 8, 8))
	_, err := w.send(agent, f)
	graphtest.RequireFault(t, err, fault.UploadBusy)
	w.Exec("UPDATE attachments SET attempts = 3, lease_id = gen_random_uuid(), lease_until = stoa_now()")
	w.Attachments.Enqueue = enqueue
	w.Shift(time.Minute)
	_, err = w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.pending() == uuid.Nil }, time.Minute, 10*time.Millisecond)
	require.Equal(t, [3]int64{0, 0, 1}, w.usage(agent.ID))
	_, err = w.send(agent, f)
	graphtest.RequireFault(t, err, fault.UploadUnavailable)
}

// A machine that cannot judge is not the file's fault: after three attempts nothing is left of the upload.
func TestMachineThatFailsLeavesNoRecord(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t)}
	var fails atomic.Int64
	fails.Store(3)
	w.folder = w.InspectWith(func(ctx context.Context, path string, purpose attachments.Purpose) (attachments.Report, error) {
		if fails.Add(-1) >= 0 {
			return attachments.Report{}, errors.New("no child today")
		}
		return jobs.Judge(ctx, path, purpose)
	})
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 8, 8))
	_, err := w.send(agent, f)
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	require.Empty(t, w.stored(t))
	fails.Store(2)
	sent, err := w.send(agent, f)
	require.NoError(t, err, "the third attempt counts")
	require.False(t, sent.IsRepeat())
}

func TestInspectionThatIsInterruptedIsDoneLater(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t)}
	g := &gate{open: make(chan struct{})}
	w.folder = w.InspectWith(g.judge)
	asked := make(chan uuid.UUID, 1)
	w.Attachments.Enqueue = func(_ context.Context, tx *db.Tx, job db.Job) error {
		tx.AfterCommit(func() { asked <- job.(attachments.InspectJob).AttachmentID })
		return nil
	}
	agent, f := w.Agent(), newForm(attachments.Order, picture(t, 8, 8))
	result := make(chan error, 1)
	go func() {
		_, err := w.send(agent, f)
		result <- err
	}()
	id := <-asked
	for range 5 { // a process that shuts down does not use up attempts
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for g.running.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		require.ErrorIs(t, w.Attachments.Inspect(ctx, id, g.judge), context.Canceled)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE lease_id IS NULL AND attempts = 0"))
	}
	close(g.open)
	require.NoError(t, w.Attachments.Inspect(context.Background(), id, g.judge))
	require.NoError(t, <-result)
	require.NoError(t, w.Attachments.Inspect(context.Background(), id, g.judge), "a job that comes twice does nothing")
}

// A store that cannot write: uploads fail and leave no record, everything else goes on.
func TestStoreThatCannotWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	kept := newForm(attachments.Order, picture(t, 8, 8))
	sent, err := w.send(agent, kept)
	require.NoError(t, err)
	restore := w.breakStore(t)

	f := newForm(attachments.Order, picture(t, 8, 8))
	_, err = w.send(agent, f)
	require.Positive(t, graphtest.RequireFault(t, err, fault.ServiceUnavailable).Retry())
	require.Equal(t, int64(1), w.usage(agent.ID)[2])
	again, err := w.send(agent, kept)
	require.NoError(t, err, "a repeat needs no store")
	require.Equal(t, sent.Attachment.ID, again.Attachment.ID)
	restore()
	_, err = w.send(agent, f)
	require.NoError(t, err)
}

// breakStore makes the store unwritable, also for a superuser: where its folder was is a file.
func (w *world) breakStore(t *testing.T) (restore func()) {
	t.Helper()
	folder, aside := filepath.Join(w.folder, "attachments"), filepath.Join(w.folder, "aside")
	require.NoError(t, os.Rename(folder, aside))
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	return func() {
		require.NoError(t, os.Remove(folder))
		require.NoError(t, os.Rename(aside, folder))
	}
}

// The store breaks between the upload and what is made of it.
func TestStoreThatBreaksMeanwhile(t *testing.T) {
	t.Parallel()
	w := &world{World: graphtest.New(t)}
	var breakIt, restore func()
	w.folder = w.InspectWith(func(ctx context.Context, path string, purpose attachments.Purpose) (attachments.Report, error) {
		if breakIt != nil {
			breakIt()
		}
		return jobs.Judge(ctx, path, purpose)
	})
	agent := w.Agent()
	breakIt = func() { breakIt = nil; restore = w.breakStore(t) }
	f := newForm(attachments.Order, picture(t, 8, 8))
	_, err := w.send(agent, f)
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	restore()
	_, err = w.send(agent, f)
	require.NoError(t, err)
}

func TestUploadLargerThanAFileMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	_, err := w.send(agent, newForm(attachments.Order, make([]byte, attachments.MaxFile+1)))
	graphtest.RequireFault(t, err, fault.PayloadTooLarge)
	_, err = w.send(agent, newForm(attachments.Order, make([]byte, attachments.MaxFile)))
	graphtest.RequireFault(t, err, fault.InvalidFile)
	require.Empty(t, w.stored(t))
}

func TestFoldersThatCrashesLeftAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, err := os.MkdirTemp("", "stoa-inspect-") //nolint:usetesting // it must lie where the system has temporary files
	require.NoError(t, err)
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(left, old, old))
	w.upload(t, w.Agent(), attachments.Order, picture(t, 8, 8))
	require.NoDirExists(t, left)
}
