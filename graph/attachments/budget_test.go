package attachments_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/jobs"
)

func TestBudgetsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		quotas limits.Quotas
		want   fault.Code
	}{
		"records of an agent": {limits.Quotas{FileRecordsPerAgent: 2}, fault.StorageRecordLimit},
		"records of all":      {limits.Quotas{FileRecords: 2}, fault.StorageRecordLimit},
		"files of an agent":   {limits.Quotas{FilesPerAgent: 2}, fault.StorageQuotaExceeded},
		"files of all":        {limits.Quotas{Files: 2}, fault.StorageQuotaExceeded},
		"bytes of an agent":   {limits.Quotas{StorageBytesPerAgent: 9000}, fault.StorageQuotaExceeded},
		"bytes of all":        {limits.Quotas{StorageBytes: 9000}, fault.StorageQuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			w.Exec("DELETE FROM attachments")
			w.Attachments.Quotas = c.quotas
			agent := w.Agent()
			for range 2 {
				w.upload(t, agent, attachments.Order, picture(t, 8, 8)) // reserves less than 5000 bytes, keeps less than 2000
			}
			before, stored := w.usage(uuid.Nil), len(w.stored(t))
			_, err := w.send(agent, newForm(attachments.Order, photo(t, 90, 90)))
			graphtest.RequireFault(t, err, c.want)
			require.Equal(t, before, w.usage(uuid.Nil), "a refused upload is not recorded")
			w.keeps(t, stored)
		})
	}
}

func TestRejectedUploadCountsAsRecordOnly(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	agent := w.Agent()
	for name, b := range map[string][]byte{"empty": nil, "unknown": []byte("hello"), "cut": photo(t, 30, 30)[:500]} {
		f := newForm(attachments.Portfolio, b)
		_, err := w.send(agent, f)
		refused := graphtest.RequireFault(t, err, fault.InvalidFile)
		require.NotEmpty(t, refused.Text(), name)
		_, err = w.send(agent, f)
		graphtest.RequireFault(t, err, fault.UploadUnavailable)
		f.bytes = picture(t, 8, 8)
		_, err = w.send(agent, f)
		graphtest.RequireFault(t, err, fault.UploadUnavailable)
	}
	require.Equal(t, [3]int64{0, 0, 3}, w.usage(agent.ID))
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM attachments WHERE status = 'rejected'"))
	w.keeps(t, 0)
}

// With any number of concurrent uploads, budgets are never exceeded, and in the end usage equals the sum of the records.
func TestBudgetsHoldUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{StorageBytes: 60_000, StorageBytesPerAgent: 25_000, Files: 12, FilesPerAgent: 5, FileRecordsPerAgent: 8, Inspections: 2}))
	agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	within := func(t *testing.T) {
		t.Helper()
		all := w.usage(uuid.Nil)
		require.LessOrEqual(t, all[0], int64(60_000))
		require.LessOrEqual(t, all[1], int64(12))
		for _, agent := range agents {
			own := w.usage(agent.ID)
			require.LessOrEqual(t, own[0], int64(25_000))
			require.LessOrEqual(t, own[1], int64(5))
			require.LessOrEqual(t, own[2], int64(8))
		}
	}
	for range 4 {
		w.Exec("DELETE FROM attachments")
		var forms []form
		for range 5 + rand.IntN(8) {
			b := []byte("no picture")
			if side := rand.IntN(60); side > 0 {
				b = photo(t, side, side)
			}
			forms = append(forms, newForm(attachments.Order, b))
		}
		var group sync.WaitGroup
		failures := make([]error, len(forms))
		for i, f := range forms {
			group.Go(func() { _, failures[i] = w.send(agents[i%len(agents)], f) })
		}
		ended := make(chan struct{})
		go func() { group.Wait(); close(ended) }()
		for running := true; running; within(t) {
			select {
			case <-ended:
				running = false
			default:
			}
		}
		for _, err := range failures {
			if err != nil {
				require.Contains(t, []fault.Code{fault.StorageQuotaExceeded, fault.StorageRecordLimit, fault.InvalidFile, fault.UploadBusy}, fault.From(err).Code, "%v", err)
			}
		}
		for i, column := range []string{"sum(size_bytes + preview_bytes)", "count(*)"} {
			require.Equal(t, w.Count("SELECT coalesce("+column+", 0) FROM attachments WHERE status = 'ready'"), w.usage(uuid.Nil)[i])
		}
		require.Equal(t, w.Count("SELECT count(*) FROM attachments"), w.usage(uuid.Nil)[2])
	}
}
