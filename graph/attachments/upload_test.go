package attachments_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
