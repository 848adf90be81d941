package attachments_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/posts"
	"stoa/jobs"
)

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

// publish makes a public post with files, whose rights are confirmed.
func (w *world) publish(t *testing.T, by *graphtest.Agent, ids ...uuid.UUID) *posts.Card {
	t.Helper()
	var names []string
	for _, id := range ids {
		names = append(names, id.String())
	}
	return graphtest.Got(w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: graphtest.Ptr("Look."), Visibility: graphtest.Ptr("public"), AttachmentIDs: names, RightsConfirmed: graphtest.Ptr(true),
	}}))(t).Post
}

// forget removes the copy of a file, as if an earlier version had accepted the file.
func (w *world) forget(t *testing.T, id uuid.UUID) {
	t.Helper()
	require.NoError(t, w.Attachments.Store.Delete(t.Context(), attachments.PublishedKey(id)))
	w.Exec("UPDATE attachments SET published_bytes = NULL, published_sha256 = NULL, published_type = NULL, published_at = NULL, "+
		"reserved_bytes = size_bytes + preview_bytes WHERE id = $1", id)
}

func inputOf(c *attachments.Card) attachments.AttachmentInput {
	return attachments.AttachmentInput{AttachmentID: c.ID.String()}
}

// The public copy is made with the upload, and counts from then on. The first reader of a public file already finds it: the
// record, the card of the post and the download agree.
func TestCopyIsMadeWithTheUpload(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	for name, c := range map[string]struct {
		original []byte
		media    string
		copies   int64
	}{
		"large PNG":  {wide(t), "image/png", 1},
		"small PNG":  {picture(t, 30, 30), "image/png", 1},
		"large JPEG": {photo(t, 1500, 20), "image/jpeg", 1},
		"small JPEG": {photo(t, 30, 30), "image/jpeg", 0}, // its preview is the copy
		"PDF":        {document("<< /Author (Ada) >>"), "application/pdf", 1},
	} {
		t.Run(name, func(t *testing.T) {
			agent, other := w.Agent(), w.Agent()
			card := w.upload(t, agent, attachments.Portfolio, c.original)
			require.Equal(t, c.media == "application/pdf", card.Pages != nil && *card.Pages == 1 && card.Width == nil && card.Height == nil)
			in := inputOf(card)
			graphtest.Refused(t, fault.NotFound)(w.Attachments.AttachmentDownload(t.Context(), in))
			used := w.usage(agent.ID)
			posted := w.publish(t, agent, card.ID)

			shown := graphtest.Got(w.Posts.Post(other.Ctx, posts.PostInput{PostID: posted.ID.String()}))(t)
			read := graphtest.Got(w.Attachments.Attachment(t.Context(), in))(t)
			require.Equal(t, read.Attachment, shown.Post.Attachments[0])
			content := contentOf(t, w.Attachments.AttachmentDownload, t.Context(), in)
			require.EqualValues(t, len(content), read.Attachment.SizeBytes)
			require.Equal(t, c.media, *read.Attachment.MediaType)
			require.Equal(t, c.media, http.DetectContentType(content))
			require.NotContains(t, string(content), "Ada")
			if c.media != "application/pdf" {
				want, _, err := image.DecodeConfig(bytes.NewReader(c.original))
				require.NoError(t, err)
				got, _, err := image.DecodeConfig(bytes.NewReader(content))
				require.NoError(t, err)
				require.Equal(t, [2]int{want.Width, want.Height}, [2]int{got.Width, got.Height})
			}
			preview := contentOf(t, w.Attachments.AttachmentPreview, t.Context(), in)
			require.Equal(t, int64(len(c.original)+len(preview))+c.copies*int64(len(content)), used[0], "the copy counts towards the budget")
			require.Equal(t, used, w.usage(agent.ID), "publishing uses no more space")
			require.Equal(t, c.original, contentOf(t, w.Attachments.AttachmentDownload, agent.Ctx, in), "its owner has the original")

			w.Exec("UPDATE attachments SET deleted_at = stoa_now()")
			require.EqualValues(t, 1, w.sweep(t))
			w.keeps(t, 0) // the copy goes with the file
			require.Equal(t, [3]int64{0, 0, 1}, w.usage(agent.ID))
		})
	}
}

// A file of an order never becomes public, so it has no copy.
func TestFilesOfOrdersHaveNoCopy(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	w.upload(t, w.Agent(), attachments.Order, wide(t))
	w.keeps(t, 2) // the original and its preview
}

// Without room for the copy, an upload is refused before its inspection, or after it if the copy is larger than the original.
func TestUploadWithoutRoomForItsCopy(t *testing.T) {
	t.Parallel()
	original := wide(t)
	const preview = 4<<10 + 3*1024*20
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{StorageBytesPerAgent: 2*len(original) + preview - 1}))
	agent := w.Agent()
	graphtest.Refused(t, fault.StorageQuotaExceeded)(w.send(agent, newForm(attachments.Avatar, original)))
	require.Equal(t, [3]int64{}, w.usage(agent.ID))
	graphtest.OK(t)(w.send(agent, newForm(attachments.Order, original)))

	grown := newWorldWith(t, func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		report, err := inspectHead(ctx, original, purpose)
		report.Published = make([]byte, 2<<20)
		return report, err
	}, graphtest.WithQuotas(limits.Quotas{StorageBytesPerAgent: 1 << 20}))
	agent = grown.Agent()
	f := newForm(attachments.Avatar, original)
	graphtest.Refused(t, fault.StorageQuotaExceeded)(grown.send(agent, f))
	grown.keeps(t, 0)
	require.Equal(t, [3]int64{}, grown.usage(agent.ID))
	grown.Attachments.Quotas.StorageBytesPerAgent = 4 << 20
	require.False(t, graphtest.Got(grown.send(agent, f))(t).IsRepeat(), "once there is room, it may be sent again")
}

// A job makes the copies of files that an earlier version accepted, even if their owners' budgets are full, and replaces copies
// in another format. Until then others see an image's preview, and no PDF. The job tries again if the machine fails, but not if a
// file cannot be copied.
func TestFilesOfAnEarlierVersionGetCopies(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	agent := w.Agent()
	var cards []*attachments.Card
	for _, original := range [][]byte{
		wide(t), picture(t, 9, 9), photo(t, 1500, 8), photo(t, 9, 9), document("<< /Author (Ada) >>"), wide(t),
	} {
		cards = append(cards, w.upload(t, agent, attachments.Portfolio, original))
	}
	w.upload(t, agent, attachments.Order, wide(t))
	shown := cards[:5]
	for _, card := range cards {
		if w.Count("SELECT count(*) FROM attachments WHERE published_bytes IS NOT NULL AND id = $1", card.ID) > 0 {
			w.forget(t, card.ID)
		}
	}
	for _, card := range shown {
		w.publish(t, agent, card.ID)
	}
	legacy := []byte("\xff\xd8\xffearlier")
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), attachments.PublishedKey(cards[1].ID), legacy, nil))
	w.Exec(`UPDATE attachments SET published_bytes = 10, published_sha256 = '\x01', reserved_bytes = reserved_bytes + 10 WHERE id = $1`, cards[1].ID)

	preview := contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(cards[0]))
	require.Equal(t, preview, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(cards[0])))
	read := graphtest.Got(w.Attachments.Attachment(t.Context(), inputOf(cards[0])))(t)
	require.EqualValues(t, len(preview), read.Attachment.SizeBytes)
	require.Equal(t, "image/jpeg", *read.Attachment.MediaType)
	require.Equal(t, legacy, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(cards[1])))
	_, err := w.Attachments.AttachmentDownload(t.Context(), inputOf(cards[4]))
	require.Positive(t, graphtest.RequireFault(t, err, fault.ServiceUnavailable).Retry())

	w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: 1}
	run := func(inspect attachments.Inspector) (int64, error) {
		return w.Attachments.MakeMissingCopies(t.Context(), inspect, time.Now().Add(time.Hour))
	}
	n, err := run(func(context.Context, *os.File, attachments.Purpose) (attachments.Report, error) {
		return attachments.Report{}, errors.New("no child today")
	})
	require.Zero(t, n)
	require.ErrorContains(t, err, "no child today")
	tried := 0
	n = graphtest.Got(run(func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		if tried++; tried == 5 { // the second wide picture
			return attachments.Report{Reason: "No."}, nil
		}
		return jobs.InspectFile(ctx, original, purpose)
	}))(t)
	require.EqualValues(t, 5, n)
	require.Zero(t, graphtest.Got(run(jobs.InspectFile))(t))

	for i, media := range []string{"image/png", "image/png", "image/jpeg", "image/jpeg", "application/pdf"} {
		content := contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(cards[i]))
		require.Equal(t, media, http.DetectContentType(content))
		require.NotContains(t, string(content), "Ada")
	}
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE reserved_bytes <> size_bytes + preview_bytes + coalesce(published_bytes, 0)"))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM attachments WHERE published_bytes > 0"))
}
