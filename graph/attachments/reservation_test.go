package attachments_test

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
)

// begin begins an upload; announced is -1 if its length is unknown.
func (w *world) begin(t require.TestingT, by *graphtest.Agent, announced int) *attachments.Draft {
	return graphtest.Got(w.Attachments.NewDraft(by.Ctx, int64(announced)))(t)
}

func (w *world) finish(by *graphtest.Agent, draft *attachments.Draft, f form) (*attachments.UploadResult, error) {
	in := attachments.UploadInput{File: draft, FileName: &f.name, Purpose: &f.purpose, UploadID: &f.uploadID}
	return w.Attachments.UploadAttachment(by.Ctx, in)
}

// bytesOnDisk returns the size of the store.
func (w *world) bytesOnDisk(t require.TestingT) (n int64) {
	require.NoError(t, filepath.WalkDir(w.folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // it has just been deleted
		}
		if info, err := entry.Info(); err == nil {
			n += info.Size()
		}
		return nil
	}))
	return n
}

// stall begins many uploads at once, writes most of each and does not finish them. It returns the admitted ones.
func (w *world) stall(t *testing.T, by *graphtest.Agent, uploads, announced, sent int) []*attachments.Draft {
	t.Helper()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		held  []*attachments.Draft
	)
	for range uploads {
		group.Go(func() {
			draft, err := w.Attachments.NewDraft(by.Ctx, int64(announced))
			if err != nil {
				require.Positive(t, graphtest.RequireFault(t, err, fault.UploadBusy).Retry())
				return
			}
			mu.Lock()
			held = append(held, draft)
			mu.Unlock()
			for range sent / 10_000 {
				graphtest.OK(t)(draft.Write(make([]byte, 10_000)))
			}
		})
	}
	group.Wait()
	return held
}

// Any number of stalled uploads of an agent leave no more on disk than its budget, with or without a bound on their number and
// with or without a Content-Length. Another agent can upload meanwhile, and no bytes stay when they end.
func TestStalledUploadsStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	const budget, size, stalled = 3_000_000, 900_000, 12
	w := newWorld(t)
	for name, c := range map[string]struct {
		quotas    limits.Quotas
		announced int
		let       int
	}{
		"announced":                {limits.Quotas{StorageBytesPerAgent: budget}, size, stalled},
		"not announced":            {limits.Quotas{StorageBytesPerAgent: budget}, -1, stalled},
		"budget of all":            {limits.Quotas{StorageBytes: budget + 100_000, StorageBytesPerAgent: budget}, size, stalled},
		"four an agent":            {limits.Quotas{StorageBytesPerAgent: budget, UploadsPerAgent: 4}, size, 4},
		"four an agent, unbounded": {limits.Quotas{UploadsPerAgent: 4}, -1, 4},
		"one file an agent":        {limits.Quotas{FilesPerAgent: 1}, size, stalled},
		"one record an agent":      {limits.Quotas{FileRecordsPerAgent: 1}, size, stalled},
	} {
		t.Run(name, func(t *testing.T) {
			w.Exec("DELETE FROM attachments")
			require.NoError(t, os.RemoveAll(filepath.Join(w.folder, "attachments")))
			w.Attachments.Quotas = c.quotas
			agent, other := w.Agent(), w.Agent()
			held := w.stall(t, agent, stalled, c.announced, size)
			require.Len(t, held, c.let)
			stored := w.bytesOnDisk(t)
			require.Positive(t, stored)
			if c.quotas.UploadsPerAgent > 0 {
				require.LessOrEqual(t, stored, int64(4*size))
			} else {
				require.LessOrEqual(t, stored, int64(budget))
			}
			if c.quotas.FilesPerAgent+c.quotas.FileRecordsPerAgent > 0 {
				require.LessOrEqual(t, stored, int64(size))
			}
			w.upload(t, other, attachments.Order, picture(t, 8, 8))
			for _, draft := range held {
				draft.Discard()
			}
			require.Zero(t, w.underWay())
			require.Equal(t, [3]int64{}, w.usage(agent.ID))
			w.keeps(t, 2) // the other agent's original and preview
			w.upload(t, agent, attachments.Order, picture(t, 8, 8))
		})
	}
}

// The faults of the form and the answer to a repeat come before the fault of the budget (§1.6).
func TestBudgetIsCheckedLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{StorageBytesPerAgent: 12_000}))
	agent := w.Agent()
	kept := newForm(attachments.Order, photo(t, 40, 40))
	sent := graphtest.Got(w.send(agent, kept))(t)
	full := newForm(attachments.Order, photo(t, 200, 200))
	before := w.stored(t)
	for _, announced := range []int{-1, len(full.bytes)} {
		draft := w.begin(t, agent, announced)
		graphtest.OK(t)(draft.Write(full.bytes))
		require.ElementsMatch(t, before, w.stored(t), "nothing of it is stored")
		bad := full
		bad.purpose = "portrait"
		graphtest.Refused(t, fault.InvalidFields)(w.finish(agent, draft, bad))
		graphtest.Refused(t, fault.StorageQuotaExceeded)(w.finish(agent, draft, full))
		changed := full
		changed.uploadID = kept.uploadID
		graphtest.Refused(t, fault.IdempotencyConflict)(w.finish(agent, draft, changed))
		draft.Discard()

		again := w.begin(t, agent, announced)
		graphtest.OK(t)(again.Write(kept.bytes))
		repeat := graphtest.Got(w.finish(agent, again, kept))(t, "a repeat needs no budget")
		require.Equal(t, sent.Attachment.ID, repeat.Attachment.ID)
		again.Discard()
	}
	require.Zero(t, w.underWay())
	require.ElementsMatch(t, before, w.stored(t))
}

// An upload takes a place that becomes free within a second; the limits hold for one agent and for all.
func TestPlacesOfUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{UploadsPerAgent: 2, Uploads: 3}))
	one, two := w.Agent(), w.Agent()
	held := []*attachments.Draft{w.begin(t, one, -1), w.begin(t, one, -1)}
	graphtest.Refused(t, fault.UploadBusy)(w.Attachments.NewDraft(one.Ctx, -1))
	third := w.begin(t, two, -1)
	graphtest.Refused(t, fault.UploadBusy)(w.Attachments.NewDraft(two.Ctx, -1))
	third.Discard()
	require.EqualValues(t, 2, w.underWay())

	waiting := make(chan error)
	go func() {
		for { // on a busy machine the place may become free only after the second of waiting
			draft, err := w.Attachments.NewDraft(one.Ctx, -1)
			if err == nil {
				draft.Discard()
				waiting <- nil
				return
			}
		}
	}()
	held[0].Discard()
	require.NoError(t, <-waiting)
	held[1].Discard()
	require.Zero(t, w.underWay())
	w.upload(t, one, attachments.Order, picture(t, 8, 8))
}

// An upload whose process dies, or loses its reservation, leaves neither bytes nor a reservation, and is not recorded.
func TestUploadOfADeadProcessIsFreed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	f := newForm(attachments.Order, picture(t, 100, 100))
	draft := w.begin(t, agent, len(f.bytes))
	graphtest.OK(t)(draft.Write(f.bytes[:1000]))
	w.recovered(t)
	w.keeps(t, 1)                                                    // as long as it is renewed, it stays
	w.Exec("UPDATE upload_reservations SET expires_at = stoa_now()") // as if its process had died
	w.recovered(t)
	w.keeps(t, 0)
	require.Zero(t, w.underWay())

	graphtest.OK(t)(draft.Write(f.bytes[1000:]))
	graphtest.Refused(t, fault.ServiceUnavailable)(w.finish(agent, draft, f))
	draft.Discard()
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	w.keeps(t, 0)
	graphtest.OK(t)(w.send(agent, f))
}

// If an upload ends while the database is unavailable, its reservation is released when the database returns.
func TestReservationIsGivenBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	draft := w.begin(t, agent, 10_000)
	graphtest.OK(t)(draft.Write(make([]byte, 5_000)))
	restore := w.Outage()
	draft.Discard()
	restore()
	require.Eventually(t, func() bool { return w.underWay() == 0 && len(w.stored(t)) == 0 }, slack.TestWait, 20*time.Millisecond)
}

// Any sequence of uploads that begin, grow, end, break off and die keeps every budget: stored bytes are reserved or recorded, and
// both together are within the limits.
func TestReservationsHold(t *testing.T) {
	t.Parallel()
	const bytesOfAll, bytesOfOne, files, records, uploads = 90_000, 60_000, 4, 30, 3
	w := newWorldWith(t, func(context.Context, *os.File, attachments.Purpose) (attachments.Report, error) {
		return attachments.Report{
			Accepted: rand.IntN(2) == 0, Reason: "no", MediaType: "image/png", Width: 1, Height: 1, Preview: make([]byte, rand.IntN(3000)),
		}, nil
	}, graphtest.WithQuotas(limits.Quotas{StorageBytes: bytesOfAll, StorageBytesPerAgent: bytesOfOne,
		FilesPerAgent: files, FileRecordsPerAgent: records, UploadsPerAgent: uploads}))
	rapid.Check(t, func(r *rapid.T) {
		w.Exec("DELETE FROM attachments")
		require.NoError(r, os.RemoveAll(filepath.Join(w.folder, "attachments")))
		agents := []*graphtest.Agent{w.Agent(), w.Agent()}
		type upload struct {
			by    *graphtest.Agent
			draft *attachments.Draft
			bytes []byte
		}
		var held []upload
		take := func() upload {
			i := rapid.IntRange(0, len(held)-1).Draw(r, "which")
			u := held[i]
			held = append(held[:i], held[i+1:]...)
			return u
		}
		check := func() {
			onDisk := make(map[string]int64)
			for _, name := range w.stored(t) {
				id, _, _ := strings.Cut(name, ".")
				if info, err := os.Stat(filepath.Join(w.folder, "attachments", id[len(id)-2:], name)); err == nil {
					onDisk[id] += info.Size()
				}
			}
			for id, n := range onDisk {
				counted := w.Count(`SELECT coalesce((SELECT sum(bytes) FROM upload_reservations WHERE id = $1), 0) +
					coalesce((SELECT sum(reserved_bytes) FROM attachments WHERE id = $1), 0)`, uuid.MustParse(id))
				require.LessOrEqual(r, n, counted)
			}
			total := func(agent uuid.UUID) (n [4]int64) {
				for i, column := range []string{"bytes", "files", "files", "1"} {
					n[i] = w.Count("SELECT coalesce(sum("+column+"), 0) FROM upload_reservations WHERE agent_id = $1 OR $1 = $2", agent, uuid.Nil)
				}
				used := w.usage(agent)
				return [4]int64{n[0] + used[0], n[1] + used[1], n[2] + used[2], n[3]}
			}
			require.LessOrEqual(r, total(uuid.Nil)[0], int64(bytesOfAll))
			for i, sum := range []string{"sum(size_bytes + preview_bytes) FILTER (WHERE status = 'ready')", "count(*) FILTER (WHERE status = 'ready')", "count(*)"} {
				require.Equal(r, w.Count("SELECT coalesce("+sum+", 0) FROM attachments"), w.usage(uuid.Nil)[i])
			}
			for _, agent := range agents {
				n := total(agent.ID)
				require.LessOrEqual(r, n[0], int64(bytesOfOne))
				require.LessOrEqual(r, n[1], int64(files))
				require.LessOrEqual(r, n[2], int64(records))
				require.LessOrEqual(r, n[3], int64(uploads))
			}
		}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			switch step := rapid.IntRange(0, 5).Draw(r, "step"); {
			case step <= 1:
				by := agents[rapid.IntRange(0, 1).Draw(r, "agent")]
				if w.Count("SELECT count(*) FROM upload_reservations WHERE agent_id = $1", by.ID) == uploads {
					continue // it would wait for a second
				}
				whole := bytes.Repeat([]byte{byte(rand.Uint32())}, rapid.IntRange(0, 40_000).Draw(r, "size"))
				announced := rapid.SampledFrom([]int{-1, len(whole), len(whole) + 300}).Draw(r, "announced")
				held = append(held, upload{by, w.begin(r, by, announced), whole})
			case len(held) == 0:
			case step == 2: // more bytes come
				u := &held[rapid.IntRange(0, len(held)-1).Draw(r, "which")]
				n := rapid.IntRange(0, len(u.bytes)).Draw(r, "bytes")
				graphtest.OK(r)(u.draft.Write(u.bytes[:n]))
				u.bytes = u.bytes[n:]
			case step == 3: // it breaks off
				take().draft.Discard()
			case step == 4: // its process dies
				u := take()
				w.Exec("UPDATE upload_reservations SET expires_at = stoa_now()")
				graphtest.OK(r)(w.Attachments.Recover(context.Background()))
				u.draft.Discard()
				for _, other := range held {
					other.draft.Discard()
				}
				held = nil
				require.Zero(r, w.underWay())
			default: // it ends
				u := take()
				graphtest.OK(r)(u.draft.Write(u.bytes))
				if err := graphtest.Err(w.finish(u.by, u.draft, newForm(attachments.Order, nil))); err != nil {
					require.Contains(r, []fault.Code{fault.InvalidFile, fault.StorageQuotaExceeded, fault.StorageRecordLimit},
						fault.From(err).Code, "%v", err)
				}
				u.draft.Discard()
			}
			check()
		}
		for _, u := range held {
			u.draft.Discard()
		}
		require.Zero(r, w.underWay())
		check()
	})
}
