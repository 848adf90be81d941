package graphtest

import (
	"crypto/rand"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/posts"
)

// Posted lets an agent post a text, private or public.
func (w *World) Posted(by *Agent, text, visibility string) *posts.Card {
	w.t.Helper()
	made, err := w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{Text: &text, Visibility: &visibility}})
	require.NoError(w.t, err)
	return made.Post
}

// Show opens or closes an agent's profile.
func (w *World) Show(agent *Agent, public bool) {
	w.t.Helper()
	_, err := w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{ProfilePublic: &public})
	require.NoError(w.t, err)
}

// File is the record of an agent's file as an inspection leaves it, an image that is ready. It has no bytes: tests that read them
// upload.
func (w *World) File(owner *Agent, purpose attachments.Purpose) uuid.UUID {
	w.t.Helper()
	sum := make([]byte, 32)
	rand.Read(sum)
	made, err := w.DB.Ent.Attachment.Create().SetOwnerID(owner.ID).SetUploadID(uuid.New()).SetPurpose(purpose).SetStatus("ready").
		SetFileName("secret name.png").SetSizeBytes(100).SetSha256(sum).SetReservedBytes(150).SetMediaType("image/png").SetWidth(4).SetHeight(3).
		SetPreviewBytes(50).SetPreviewSha256(sum).SetPublishedBytes(80).SetPublishedSha256(sum).
		SetCreatedAt(w.Now()).SetQueuedAt(w.Now()).Save(owner.Ctx)
	require.NoError(w.t, err)
	return made.ID
}
