package attachments_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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

func TestUploadIsReadyWhenItReturns(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	agent := w.Agent()
	original := picture(t, 40, 30)
	sent := graphtest.Got(w.send(agent, newForm(attachments.Avatar, original)))(t)
	require.False(t, sent.IsRepeat())
	sum := sha256.Sum256(original)
	card := sent.Attachment
	want := &attachments.Card{
		ID: card.ID, Purpose: "avatar", Status: "ready", FileName: graphtest.Ptr("file.bin"), MediaType: graphtest.Ptr("image/png"),
		SizeBytes: int64(len(original)), SHA256: graphtest.Ptr(hex.EncodeToString(sum[:])), Width: graphtest.Ptr(40), Height: graphtest.Ptr(30),
		Available: true, PreviewURL: graphtest.Ptr("/api/v1/attachments/" + card.ID.String() + "/preview"),
		DownloadURL: graphtest.Ptr("/api/v1/attachments/" + card.ID.String() + "/download"), CreatedAt: card.CreatedAt,
	}
	require.Equal(t, want, card)
	id := card.ID.String()
	require.ElementsMatch(t, []string{id + ".original", id + ".preview", id + ".published"}, w.stored(t))

	made := w.Count("SELECT preview_bytes + published_bytes FROM attachments")
	for _, who := range []uuid.UUID{uuid.Nil, agent.ID} {
		require.Equal(t, [3]int64{int64(len(original)) + made, 1, 1}, w.usage(who), "original, preview and public copy, no more")
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	first := newForm(attachments.Order, picture(t, 8, 8))
	sent := graphtest.Got(w.send(agent, first))(t)

	again := graphtest.Got(w.send(agent, first))(t)
	require.True(t, again.IsRepeat())
	require.Equal(t, sent.Attachment, again.Attachment)

	for name, change := range map[string]func(*form){
		"bytes":   func(f *form) { f.bytes = picture(t, 8, 8) },
		"name":    func(f *form) { f.name = "other.bin" },
		"purpose": func(f *form) { f.purpose = "portfolio" },
	} {
		changed := first
		change(&changed)
		graphtest.Refused(t, fault.IdempotencyConflict, name)(w.send(agent, changed))
	}
	theirs := graphtest.Got(w.send(other, first))(t, "an upload_id is the agent's own")
	require.NotEqual(t, sent.Attachment.ID, theirs.Attachment.ID)
	w.keeps(t, 4) // two originals with their previews; repeats leave nothing behind
}

// contentOf reads the file that get returns to the caller of ctx.
func contentOf(t *testing.T, get func(context.Context, attachments.AttachmentInput) (*attachments.File, error), ctx context.Context, in attachments.AttachmentInput) []byte { //nolint:revive // the function comes with its arguments
	t.Helper()
	file := graphtest.Got(get(ctx, in))(t)
	reader := graphtest.Got(file.Open(ctx, 0))(t)
	content := graphtest.Got(io.ReadAll(reader))(t)
	require.NoError(t, reader.Close())
	require.Len(t, content, int(file.Size))
	return content
}

// document is a PDF of one empty page with this document information.
func document(information string) []byte {
	b := []byte("%PDF-1.4\n")
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] /Resources << >> >>", information,
	} {
		offsets = append(offsets, len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := len(b)
	b = append(b, "xref\n0 5\n0000000000 65535 f \n"...)
	for _, offset := range offsets {
		b = fmt.Appendf(b, "%010d 00000 n \n", offset)
	}
	return fmt.Appendf(b, "trailer\n<< /Size 5 /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n", start)
}

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
			graphtest.Refused(t, c.want)(w.send(agent, newForm(attachments.Order, photo(t, 90, 90))))
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
		require.NotEmpty(t, graphtest.RequireFault(t, graphtest.Err(w.send(agent, f)), fault.InvalidFile, name).Text(), name)
		graphtest.RefusedField(t, fault.UploadUnavailable, "upload_id")(w.send(agent, f))
		f.bytes = picture(t, 8, 8)
		graphtest.Refused(t, fault.UploadUnavailable)(w.send(agent, f))
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
