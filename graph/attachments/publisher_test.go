package attachments_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gocloud.dev/gcerrors"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
)

// publisher counts the public copies that are made, and can hold them back, fail them or refuse them.
type publisher struct {
	made  atomic.Int64
	most  atomic.Int64
	now   atomic.Int64
	open  chan struct{}
	fails atomic.Int64
	// refuses makes reports of files that cannot be published.
	refuses atomic.Bool
	// real is inspectHead, or the server's inspector.
	real attachments.Inspector
}

func (p *publisher) inspect(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	if purpose != "publication" {
		return p.real(ctx, original, purpose)
	}
	p.most.Store(max(p.most.Load(), p.now.Add(1)))
	defer p.now.Add(-1)
	if p.open != nil {
		<-p.open
	}
	if p.fails.Add(-1) >= 0 {
		return attachments.Report{}, errors.New("no child today")
	}
	if p.refuses.Load() {
		return attachments.Report{Reason: "No.", Remove: func() error { return nil }}, nil
	}
	p.made.Add(1)
	return p.real(ctx, original, purpose)
}

func newPublishing(t *testing.T, p *publisher, options ...graphtest.Option) *world {
	t.Helper()
	if p.real == nil {
		p.real = inspectHead
	}
	return newWorldWith(t, p.inspect, options...)
}

// wide is an image larger than its preview.
func wide(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 1500, 20))
	for x := range 1500 {
		for y := range 20 {
			m.SetGray(x, y, color.Gray{Y: uint8(x / 6)})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// post makes a post with files, whose rights are confirmed.
func (w *world) post(by *graphtest.Agent, visibility string, ids ...uuid.UUID) (*posts.Card, error) {
	var names []string
	for _, id := range ids {
		names = append(names, id.String())
	}
	made, err := w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: graphtest.Ptr("Look."), Visibility: &visibility, AttachmentIDs: names, RightsConfirmed: graphtest.Ptr(true),
	}})
	if err != nil {
		return nil, err
	}
	return made.Post, nil
}

// publish makes a public post with files.
func (w *world) publish(t *testing.T, by *graphtest.Agent, ids ...uuid.UUID) *posts.Card {
	t.Helper()
	made, err := w.post(by, "public", ids...)
	require.NoError(t, err)
	return made
}

// show changes the visibility of a post.
func (w *world) show(by *graphtest.Agent, of *posts.Card, visibility string) error {
	_, err := w.Posts.UpdatePost(by.Ctx, posts.UpdatePostInput{
		PostID: of.ID.String(), Fields: posts.Fields{Visibility: &visibility},
	})
	return err
}

// wear binds an avatar; the nil UUID unbinds it.
func (w *world) wear(by *graphtest.Agent, id uuid.UUID) error {
	_, err := w.Bots.UpdateMe(by.Ctx, bots.UpdateMeInput{
		AvatarAttachmentID: wire.Nullable[string]{Set: true, Null: id == uuid.Nil, Value: id.String()}, RightsConfirmed: graphtest.Ptr(true),
	})
	return err
}

// forget makes a file one that an earlier version published, without a copy.
func (w *world) forget(t *testing.T, id uuid.UUID) {
	t.Helper()
	if err := w.Attachments.Store.Delete(t.Context(), attachments.PublishedKey(id)); err != nil {
		require.Equal(t, gcerrors.NotFound, gcerrors.Code(err))
	}
	w.Exec("UPDATE attachments SET published_bytes = NULL, published_sha256 = NULL, published_type = NULL, published_at = NULL, "+
		"reserved_bytes = size_bytes + preview_bytes WHERE id = $1", id)
}

func inputOf(c *attachments.Card) attachments.AttachmentInput {
	return attachments.AttachmentInput{AttachmentID: c.ID.String()}
}

func postInput(c *posts.Card) posts.PostInput { return posts.PostInput{PostID: c.ID.String()} }
