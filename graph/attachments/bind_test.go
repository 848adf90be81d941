package attachments_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
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

func idsOf(cards []*attachments.Card) []uuid.UUID {
	ids := make([]uuid.UUID, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids
}

func TestBindKeepsOrderAndReplaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	var files []uuid.UUID
	for range 4 {
		files = append(files, w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID)
	}
	post := attachments.Target{Use: attachments.OfPost, ID: uuid.New()}
	other := attachments.Target{Use: attachments.OfPost, ID: uuid.New()}
	require.NoError(t, w.bind(agent, post, files[2], files[0], files[1]))
	require.NoError(t, w.bind(agent, other, files[3]))
	cards := w.bound(t, agent.ID, post, other)
	require.Equal(t, []uuid.UUID{files[2], files[0], files[1]}, idsOf(cards[post]))
	require.Equal(t, []uuid.UUID{files[3]}, idsOf(cards[other]))

	graphtest.RequireFault(t, w.bind(agent, post, files[0], files[3]), fault.AttachmentAlreadyBound)
	require.Equal(t, []uuid.UUID{files[2], files[0], files[1]}, idsOf(w.bound(t, agent.ID, post)[post]), "a refusal changes nothing")

	require.NoError(t, w.bind(agent, post, files[1], files[2]))
	require.Equal(t, []uuid.UUID{files[1], files[2]}, idsOf(w.bound(t, agent.ID, post)[post]))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE id = $1 AND unbound_at IS NOT NULL", files[0]))
	require.NoError(t, w.bind(agent, other, files[3], files[0]), "what was unbound may be bound again")
	require.EqualValues(t, 0, w.Count("SELECT count(*) FROM attachments WHERE unbound_at IS NOT NULL"))

	require.NoError(t, w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error { return attachments.Unbind(ctx, tx, post) }))
	require.Empty(t, w.bound(t, agent.ID, post))
	require.Empty(t, w.bound(t, agent.ID))
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	post := attachments.Target{Use: attachments.OfPost, ID: uuid.New()}
	portfolio := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID
	graphtest.Refused(t, fault.InvalidFile)(w.send(agent, newForm(attachments.Portfolio, []byte("no picture"))))
	rejected := w.withStatus("rejected")
	gone := w.upload(t, agent, attachments.Portfolio, picture(t, 8, 8)).ID
	w.Exec("UPDATE attachments SET deleted_at = stoa_now() WHERE id = $1", gone)
	for name, id := range map[string]uuid.UUID{
		"unknown":       uuid.New(),
		"not one's own": w.upload(t, other, attachments.Portfolio, picture(t, 8, 8)).ID,
		"wrong purpose": w.upload(t, agent, attachments.Order, picture(t, 8, 8)).ID,
		"rejected":      rejected,
		"without bytes": gone,
	} {
		require.Equal(t, fault.InvalidAttachment, fault.From(w.bind(agent, post, portfolio, id)).Code, name)
	}
	require.Empty(t, w.bound(t, agent.ID, post))
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

// If two targets request the same file concurrently, one gets it.
func TestBindOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	file := w.upload(t, agent, attachments.Order, picture(t, 8, 8)).ID
	codes := graphtest.AtOnce(8, func(int) error {
		return w.bind(agent, attachments.Target{Use: attachments.AsOrderInput, ID: uuid.New()}, file)
	})
	require.Equal(t, map[fault.Code]int{"": 1, fault.AttachmentAlreadyBound: 7}, codes.Count())
}
