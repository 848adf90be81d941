package attachments_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/fault"
	"stoa/graph/graphtest"
)

func TestUploadIsReadyWhenItReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
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
	require.ElementsMatch(t, []string{card.ID.String() + ".original", card.ID.String() + ".preview", card.ID.String() + ".published"}, w.stored(t))

	preview := w.Count("SELECT preview_bytes FROM attachments")
	for _, who := range []uuid.UUID{uuid.Nil, agent.ID} {
		require.Equal(t, [3]int64{int64(len(original)) + preview, 1, 1}, w.usage(who), "original and preview, no more")
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
	require.Len(t, w.stored(t), 4, "two originals with their previews; repeats leave nothing behind")
}
