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
	"stoa/jobs"
)

func TestUploadIsReadyWhenItReturns(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	agent := w.Agent()
	original := picture(t, 40, 30)
	sent, err := w.send(agent, newForm(attachments.Avatar, original))
	require.NoError(t, err)
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
	sent, err := w.send(agent, first)
	require.NoError(t, err)

	again, err := w.send(agent, first)
	require.NoError(t, err)
	require.True(t, again.IsRepeat())
	require.Equal(t, sent.Attachment, again.Attachment)

	for name, change := range map[string]func(*form){
		"bytes":   func(f *form) { f.bytes = picture(t, 8, 8) },
		"name":    func(f *form) { f.name = "other.bin" },
		"purpose": func(f *form) { f.purpose = "portfolio" },
	} {
		changed := first
		change(&changed)
		_, err := w.send(agent, changed)
		graphtest.RequireFault(t, err, fault.IdempotencyConflict)
		_ = name
	}
	theirs, err := w.send(other, first)
	require.NoError(t, err, "an upload_id is the agent's own")
	require.NotEqual(t, sent.Attachment.ID, theirs.Attachment.ID)
	w.keeps(t, 4) // two originals with their previews; repeats leave nothing behind
}

// contentOf reads the file that get returns to the caller of ctx.
func contentOf(t *testing.T, get func(context.Context, attachments.AttachmentInput) (*attachments.File, error), ctx context.Context, in attachments.AttachmentInput) []byte { //nolint:revive // the function comes with its arguments
	t.Helper()
	file, err := get(ctx, in)
	require.NoError(t, err)
	reader, err := file.Open(ctx, 0)
	require.NoError(t, err)
	content, err := io.ReadAll(reader)
	require.NoError(t, err)
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
