package attachments_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/posts"
	"stoa/jobs"
)

// publisher counts the public copies that are made, and can hold them back or fail them.
type publisher struct {
	made  atomic.Int64
	most  atomic.Int64
	now   atomic.Int64
	open  chan struct{}
	fails atomic.Int64
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

// publish makes a public post with files.
func (w *world) publish(t *testing.T, by *graphtest.Agent, ids ...uuid.UUID) {
	t.Helper()
	var names []string
	for _, id := range ids {
		names = append(names, id.String())
	}
	_, err := w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: graphtest.Ptr("Look."), Visibility: graphtest.Ptr("public"), AttachmentIDs: names, RightsConfirmed: graphtest.Ptr(true),
	}})
	require.NoError(t, err)
}

func inputOf(c *attachments.Card) attachments.AttachmentInput {
	return attachments.AttachmentInput{AttachmentID: c.ID.String()}
}

// The copy for others is made when the first of them asks, once for all readers and processes, and is counted with the file.
func TestPublicCopyIsMadeOnceWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := &publisher{real: jobs.InspectFile}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	in := inputOf(card)
	_, err := w.Attachments.AttachmentDownload(t.Context(), in)
	graphtest.RequireFault(t, err, fault.NotFound)
	w.publish(t, agent, card.ID)
	contentOf(t, w.Attachments.AttachmentDownload, agent.Ctx, in)
	contentOf(t, w.Attachments.AttachmentPreview, t.Context(), in)
	require.Zero(t, p.made.Load(), "neither its owner nor a preview needs it")
	require.Len(t, w.stored(t), 2)
	before := w.usage(agent.ID)[0]

	there := &attachments.API{DB: w.Attachments.DB, Quotas: w.Attachments.Quotas, Store: w.Attachments.Store, Enqueue: w.Attachments.Enqueue}
	var group sync.WaitGroup
	tags := make([]string, 12)
	for i := range tags {
		api := []*attachments.API{w.Attachments, there}[i%2]
		group.Go(func() {
			file, err := api.AttachmentDownload(t.Context(), in)
			if err == nil {
				tags[i] = file.Tag
			}
		})
	}
	group.Wait()
	for _, tag := range tags {
		require.NotEmpty(t, tag)
		require.Equal(t, tags[0], tag)
	}
	require.EqualValues(t, 1, p.made.Load())
	copied := contentOf(t, w.Attachments.AttachmentDownload, t.Context(), in)
	decoded, err := jpeg.Decode(bytes.NewReader(copied))
	require.NoError(t, err)
	require.Equal(t, image.Pt(1500, 20), decoded.Bounds().Size())
	require.Equal(t, before+int64(len(copied)), w.usage(agent.ID)[0], "the copy counts towards the budget")
	require.Equal(t, w.usage(agent.ID)[0], w.usage(uuid.Nil)[0])
	read, err := w.Attachments.Attachment(t.Context(), in)
	require.NoError(t, err)
	require.EqualValues(t, len(copied), read.Attachment.SizeBytes)
	require.Equal(t, "image/jpeg", *read.Attachment.MediaType)
	require.Zero(t, w.Count("SELECT count(*) FROM attachment_copies"))

	w.Exec("UPDATE attachments SET deleted_at = stoa_now()")
	require.EqualValues(t, 1, w.sweep(t))
	require.Empty(t, w.stored(t), "the copy goes with the file")
	require.Equal(t, [3]int64{0, 0, 1}, w.usage(agent.ID))
}

// Whatever others ask for first, its size is that of what they may download.
func TestRecordTellsTheSizeOfTheCopy(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	agent := w.Agent()
	for _, original := range [][]byte{wide(t), picture(t, 30, 30), document("<< /Author (Ada) >>")} {
		card := w.upload(t, agent, attachments.Portfolio, original)
		w.publish(t, agent, card.ID)
		read, err := w.Attachments.Attachment(t.Context(), inputOf(card))
		require.NoError(t, err)
		content := contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))
		require.EqualValues(t, len(content), read.Attachment.SizeBytes)
	}
}

// An image that its preview shows at its full size needs no copy.
func TestSmallImageNeedsNoCopy(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, picture(t, 300, 20))
	w.publish(t, agent, card.ID)
	in := inputOf(card)
	require.Equal(t, contentOf(t, w.Attachments.AttachmentPreview, t.Context(), in), contentOf(t, w.Attachments.AttachmentDownload, t.Context(), in))
	require.Zero(t, p.made.Load())
	require.Len(t, w.stored(t), 2)
}

// A copy never breaks a budget: an image is shown as its preview instead, a PDF waits until there is room.
func TestCopyThatDoesNotFit(t *testing.T) {
	t.Parallel()
	p := &publisher{real: jobs.InspectFile}
	w := newPublishing(t, p)
	agent := w.Agent()
	photo := w.upload(t, agent, attachments.Portfolio, wide(t))
	pdf := w.upload(t, agent, attachments.Portfolio, document("<< /Author (Ada) >>"))
	w.publish(t, agent, photo.ID, pdf.ID)
	used := w.usage(agent.ID)
	w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: int(used[0]) + 10}

	require.Equal(t, contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(photo)),
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(photo)))
	_, err := w.Attachments.AttachmentDownload(t.Context(), inputOf(pdf))
	require.Positive(t, graphtest.RequireFault(t, err, fault.ServiceUnavailable).Retry())
	require.Equal(t, used, w.usage(agent.ID))
	require.Len(t, w.stored(t), 4)
	made := p.made.Load()
	_, err = w.Attachments.AttachmentDownload(t.Context(), inputOf(pdf))
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Equal(t, made, p.made.Load(), "it is not made again and again")

	w.Attachments.Quotas = limits.Quotas{}
	w.Shift(10 * time.Minute)
	require.NotContains(t, string(contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(pdf))), "Ada")
	decoded, err := jpeg.Decode(bytes.NewReader(contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(photo))))
	require.NoError(t, err)
	require.Equal(t, 1500, decoded.Bounds().Dx())
}

// Copies and uploads share the inspection slots.
func TestCopiesTakeInspectionSlots(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p, graphtest.WithQuotas(limits.Quotas{Inspections: 1}))
	agent := w.Agent()
	first := w.upload(t, agent, attachments.Portfolio, wide(t))
	second := w.upload(t, agent, attachments.Portfolio, wide(t))
	w.publish(t, agent, first.ID, second.ID)
	var group sync.WaitGroup
	failures := make([]error, 3)
	for i, card := range []*attachments.Card{first, second} {
		group.Go(func() { _, failures[i] = w.Attachments.AttachmentDownload(t.Context(), inputOf(card)) })
	}
	require.Eventually(t, func() bool { return p.now.Load() == 1 }, time.Minute, 10*time.Millisecond)
	group.Go(func() { _, failures[2] = w.send(agent, newForm(attachments.Order, picture(t, 8, 8))) })
	require.Eventually(t, func() bool { return w.pending() != uuid.Nil }, time.Minute, 10*time.Millisecond)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachment_copies WHERE lease_until > stoa_now()"))
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE lease_until > stoa_now()"), "the upload waits for the slot")
	close(p.open)
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, p.most.Load())
}

// A machine that fails now and then makes the copy in the end; where it never does, an image is shown as its preview.
func TestCopyThatFails(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	w.publish(t, agent, card.ID)
	preview := contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(card))
	p.fails.Store(3)
	require.Equal(t, preview, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card)))
	w.Shift(10 * time.Minute)
	p.fails.Store(2)
	require.NotEqual(t, preview, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card)))
	require.EqualValues(t, 1, p.made.Load())
}

// A copy whose process died is asked for again by the next reader.
func TestCopyIsMadeAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	w.publish(t, agent, card.ID)
	enqueue := w.Attachments.Enqueue
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil } // its process dies
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := w.Attachments.AttachmentDownload(ctx, inputOf(card))
		gone <- err
	}()
	require.Eventually(t, func() bool { return w.Count("SELECT count(*) FROM attachment_copies") == 1 }, time.Minute, 10*time.Millisecond)
	cancel()
	require.Error(t, <-gone)
	w.Exec("UPDATE attachment_copies SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '1 minute', attempts = 1")
	w.Attachments.Enqueue = enqueue
	w.Shift(time.Minute)
	contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE published_bytes IS NOT NULL"))

	w.Exec("UPDATE attachments SET published_bytes = NULL, published_sha256 = NULL")
	w.Exec("INSERT INTO attachment_copies (attachment_id, queued_at, attempts) VALUES ($1, stoa_now() - interval '1 minute', 3)", card.ID)
	require.Equal(t, contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(card)),
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card)), "what took three processes with it is not tried again")
}

// Too many readers that wait are told so at once.
func TestReadersOfCopiesAreBounded(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	w.publish(t, agent, card.ID)
	answers := make(chan error, 40)
	for range cap(answers) {
		go func() {
			_, err := w.Attachments.AttachmentDownload(t.Context(), inputOf(card))
			answers <- err
		}()
	}
	for range cap(answers) - 16 {
		require.Positive(t, graphtest.RequireFault(t, <-answers, fault.ServiceUnavailable).Retry())
	}
	close(p.open)
	for range 16 {
		require.NoError(t, <-answers)
	}
}

// A file whose copy was made before keeps it.
func TestEarlierCopiesAreServed(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, picture(t, 30, 30))
	w.publish(t, agent, card.ID)
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), attachments.PublishedKey(card.ID), []byte("earlier"), nil))
	w.Exec(`UPDATE attachments SET published_bytes = 7, published_sha256 = '\x01'`)
	require.Equal(t, "earlier", string(contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))))
	require.Zero(t, p.made.Load())
}
