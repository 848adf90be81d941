package attachments_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
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

// If the worker of an upload dies, its lease expires, and the next process finishes the inspection while the client still waits.
func TestCrashedInspectionIsRecovered(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, inspectHead, graphtest.WithQuotas(limits.Quotas{Inspections: 1}))
	enqueue := w.Attachments.Enqueue
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil } // its worker never answers
	agent, f := w.Agent(), newForm(attachments.Order, picture(t, 8, 8))
	result := make(chan error, 1)
	go func() { result <- graphtest.Err(w.send(agent, f)) }()
	require.Eventually(t, func() bool { return w.pending() != uuid.Nil }, slack.TestWait, 10*time.Millisecond)
	w.Exec("UPDATE attachments SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '20 seconds', attempts = 1")
	w.Attachments.Enqueue = enqueue

	require.Zero(t, w.recovered(t), "while the lease lives, so may the worker")
	w.Shift(21 * time.Second)
	require.Equal(t, 1, w.recovered(t))
	require.NoError(t, <-result)
	require.Zero(t, w.recovered(t))
}

// An inspection that waits for a slot looks ten times a second: it does not take the lock of the budgets, which uploads need.
func TestAnInspectionThatWaitsTakesNoLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{Inspections: 1}))
	w.dismissWorkers()
	graphtest.Refused(t, fault.UploadBusy)(w.send(w.Agent(), newForm(attachments.Order, picture(t, 8, 8))))
	w.Exec("UPDATE attachments SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '20 seconds'")
	commit := w.Hold("SELECT FROM storage_usage WHERE agent_id = $1 FOR UPDATE", uuid.Nil)
	require.True(t, graphtest.Got(w.Attachments.TryClaim(t.Context()))(t))
	commit()
}

// If the inspections of an upload died three times with their processes, it is deleted, not rejected: it can be sent again, and
// each time counts among the records.
func TestUploadWhoseInspectionsCrashStaysRepeatable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{FileRecordsPerAgent: 3}))
	enqueue, wait := w.Attachments.Enqueue, w.Attachments.InspectionWait
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 8, 8))
	for lost := int64(1); lost <= 2; lost++ {
		w.dismissWorkers()
		graphtest.Refused(t, fault.UploadBusy)(w.send(agent, f))
		graphtest.Refused(t, fault.UploadUnavailable)(w.send(agent, f))
		w.Exec("UPDATE attachments SET attempts = $1, lease_id = gen_random_uuid(), lease_until = stoa_now()", attachments.MaxAttempts)
		w.Attachments.Enqueue, w.Attachments.InspectionWait = enqueue, wait
		w.Shift(time.Minute)
		require.Equal(t, 1, w.recovered(t))
		require.Eventually(t, func() bool { return w.pending() == uuid.Nil && len(w.stored(t)) == 0 }, slack.TestWait, 10*time.Millisecond)
		require.Equal(t, [3]int64{0, 0, lost}, w.usage(agent.ID))
		require.Equal(t, [3]int64{0, 0, lost}, w.usage(uuid.Nil))
	}
	require.False(t, graphtest.Got(w.send(agent, f))(t).IsRepeat())
	require.True(t, graphtest.Got(w.send(agent, f))(t).IsRepeat())
	graphtest.Refused(t, fault.StorageRecordLimit)(w.send(agent, newForm(attachments.Order, picture(t, 8, 8))))
}

// A file that crashes every inspection is tried three times for each upload, is never rejected, and cannot be sent without end.
func TestFileThatCrashesEveryInspection(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	w := newWorldWith(t, func(context.Context, *os.File, attachments.Purpose) (attachments.Report, error) {
		runs.Add(1)
		return attachments.Report{}, fmt.Errorf("%w: signal", attachments.ErrCrashed)
	}, graphtest.WithQuotas(limits.Quotas{FileRecordsPerAgent: 2}))
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 8, 8))
	for sent := range int64(2) {
		require.Positive(t, graphtest.RequireFault(t, graphtest.Err(w.send(agent, f)), fault.ServiceUnavailable).Retry())
		require.Equal(t, (sent+1)*attachments.MaxAttempts, runs.Load())
		require.Equal(t, [3]int64{0, 0, sent + 1}, w.usage(agent.ID))
		w.keeps(t, 0)
	}
	graphtest.Refused(t, fault.StorageRecordLimit)(w.send(agent, f))
}

// If the database goes away while a file is inspected, the result is written when it is back, without another inspection, and
// without waiting for a lease to expire.
func TestResultOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{"accepted": picture(t, 8, 8), "rejected": []byte("no picture")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{World: graphtest.New(t)}
			var (
				restore func()
				runs    atomic.Int64
			)
			inspected := make(chan struct{})
			w.folder = w.InspectWith(func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
				report, err := inspectHead(ctx, original, purpose)
				if runs.Add(1) == 1 {
					restore = w.Outage()
					close(inspected)
				}
				return report, err
			})
			agent, f := w.Agent(), newForm(attachments.Order, file)
			graphtest.Refused(t, fault.ServiceUnavailable)(w.send(agent, f))
			<-inspected
			restore()
			require.Eventually(t, func() bool {
				return w.Count("SELECT count(*) FROM attachments WHERE status = $1 AND lease_id IS NULL", map[string]string{"accepted": "ready", "rejected": "rejected"}[name]) == 1
			}, slack.TestWait, 10*time.Millisecond)
			require.EqualValues(t, 1, runs.Load())
			require.Equal(t, int64(1), w.usage(agent.ID)[2])
		})
	}
}

// If an inspection is interrupted during an outage, its slot is released when the database returns: the clock stands still here,
// so no lease expires.
func TestLeaseIsGivenBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.dismissWorkers()
	agent, f := w.Agent(), newForm(attachments.Order, picture(t, 8, 8))
	graphtest.Refused(t, fault.UploadBusy)(w.send(agent, f))
	id := w.pending()
	var restore func()
	ctx, cancel := context.WithCancel(context.Background())
	require.Error(t, w.Attachments.Inspect(ctx, id, func(context.Context, *os.File, attachments.Purpose) (attachments.Report, error) {
		restore = w.Outage()
		cancel()
		return attachments.Report{}, context.Canceled
	}))
	restore()
	require.Eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM attachments WHERE lease_id IS NULL AND attempts = 0") == 1
	}, slack.TestWait, 10*time.Millisecond)

	restore = w.Outage()
	result := make(chan error)
	go func() { result <- w.Attachments.Inspect(context.Background(), id, inspectHead) }()
	restore()
	require.NoError(t, <-result, "an inspection that begins without the database waits for it")
	graphtest.OK(t)(w.send(agent, f))
}

// A machine that cannot inspect files does not reject them: after three attempts the upload is deleted.
func TestMachineThatFailsLeavesNoRecord(t *testing.T) {
	t.Parallel()
	var fails atomic.Int64
	fails.Store(3)
	w := newWorldWith(t, func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		if fails.Add(-1) >= 0 {
			return attachments.Report{}, errors.New("no child today")
		}
		return inspectHead(ctx, original, purpose)
	})
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 8, 8))
	graphtest.Refused(t, fault.ServiceUnavailable)(w.send(agent, f))
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	w.keeps(t, 0)
	fails.Store(2)
	sent := graphtest.Got(w.send(agent, f))(t, "the third attempt counts")
	require.False(t, sent.IsRepeat())
}

func TestInspectionThatIsInterruptedIsDoneLater(t *testing.T) {
	t.Parallel()
	g := &gate{open: make(chan struct{}), entered: make(chan struct{}, 10)}
	w := newWorldWith(t, g.inspect)
	asked := make(chan uuid.UUID, 1)
	w.Attachments.Enqueue = func(_ context.Context, tx *db.Tx, job db.Job) error {
		tx.AfterCommit(func() { asked <- job.(attachments.InspectJob).AttachmentID })
		return nil
	}
	agent, f := w.Agent(), newForm(attachments.Order, picture(t, 8, 8))
	result := make(chan error, 1)
	go func() { result <- graphtest.Err(w.send(agent, f)) }()
	id := <-asked
	for range 5 { // a process that shuts down does not use up attempts
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-g.entered; cancel() }()
		require.ErrorIs(t, w.Attachments.Inspect(ctx, id, g.inspect), context.Canceled)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE lease_id IS NULL AND attempts = 0"))
	}
	close(g.open)
	require.NoError(t, w.Attachments.Inspect(context.Background(), id, g.inspect))
	require.NoError(t, <-result)
	require.NoError(t, w.Attachments.Inspect(context.Background(), id, g.inspect), "a job that comes twice does nothing")
}

// breakStore makes the store unwritable, also for a superuser: it replaces the folder with a file.
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

// The store breaks after the upload and before preview and copy are written.
func TestStoreThatBreaksMeanwhile(t *testing.T) {
	t.Parallel()
	var breakIt, restore func()
	w := newWorldWith(t, func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		if breakIt != nil {
			breakIt()
		}
		return inspectHead(ctx, original, purpose)
	})
	agent := w.Agent()
	breakIt = func() { breakIt = nil; restore = w.breakStore(t) }
	f := newForm(attachments.Order, picture(t, 8, 8))
	graphtest.Refused(t, fault.ServiceUnavailable)(w.send(agent, f))
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	restore()
	graphtest.OK(t)(w.send(agent, f))
}

// The local copy of an inspected file has no name, so nothing stays when its process dies.
func TestInspectedFileHasNoName(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		require.Zero(t, graphtest.Got(original.Stat())(t).Sys().(*syscall.Stat_t).Nlink)
		return inspectHead(ctx, original, purpose)
	})
	w.upload(t, w.Agent(), attachments.Order, picture(t, 8, 8))
}
