package attachments_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

func (w *world) bind(owner *graphtest.Agent, target attachments.Target, ids ...uuid.UUID) error {
	return w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		return attachments.Bind(ctx, tx, owner.ID, target, ids)
	})
}

func (w *world) bound(t *testing.T, reader uuid.UUID, targets ...attachments.Target) map[attachments.Target][]*attachments.Card {
	t.Helper()
	return graphtest.Got(attachments.Bound(context.Background(), w.DB.SQL, reader, targets...))(t)
}

func TestWhoSeesNameAndHashOfBoundFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, reader := w.Agent(), w.Agent()
	whole := func(c *attachments.Card) bool { return c.FileName != nil && c.SHA256 != nil }
	for _, c := range []struct {
		use     attachments.Use
		purpose attachments.Purpose
		shown   bool
	}{{attachments.OfPost, attachments.Portfolio, false}, {attachments.AsAvatar, attachments.Avatar, false}, {attachments.AsOrderInput, attachments.Order, true}} {
		target := attachments.Target{Use: c.use, ID: uuid.New()}
		original := picture(t, 30, 30)
		file := w.upload(t, agent, c.purpose, original).ID
		require.NoError(t, w.bind(agent, target, file))
		w.Exec(`UPDATE attachments SET published_bytes = 7, published_sha256 = '\x01', published_type = 'application/pdf' WHERE id = $1`, file)
		require.True(t, whole(w.bound(t, agent.ID, target)[target][0]))
		shown := w.bound(t, reader.ID, target)[target][0]
		require.Equal(t, c.shown, whole(shown), "%s", c.use)
		require.Equal(t, c.shown, shown.SizeBytes == int64(len(original)), "of the version that may be downloaded")
		require.Equal(t, c.shown, *shown.MediaType == "image/png")
	}
}
