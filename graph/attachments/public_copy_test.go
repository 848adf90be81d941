package attachments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/jobs"
)

// Files that an earlier version published, and that has not been read since, are served as that version did: the first reader waits.
// If the copy cannot be made, an image is shown as its preview, and its record says so.
func TestReadersOfMissingCopies(t *testing.T) {
	t.Parallel()
	p := &publisher{real: jobs.InspectFile}
	w := newPublishing(t, p)
	agent := w.Agent()
	photo := w.upload(t, agent, attachments.Portfolio, wide(t))
	pdf := w.upload(t, agent, attachments.Portfolio, document("<< /Author (Ada) >>"))
	w.publish(t, agent, photo.ID, pdf.ID)
	w.forget(t, photo.ID)
	w.forget(t, pdf.ID)
	used := w.usage(agent.ID)
	w.Attachments.Quotas = limits.Quotas{StorageBytes: int(used[0]) + 10}

	preview := contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(photo))
	require.Equal(t, preview, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(photo)))
	read, err := w.Attachments.Attachment(t.Context(), inputOf(photo))
	require.NoError(t, err)
	require.EqualValues(t, len(preview), read.Attachment.SizeBytes)
	require.Equal(t, "image/jpeg", *read.Attachment.MediaType)
	_, err = w.Attachments.AttachmentDownload(t.Context(), inputOf(pdf))
	require.Positive(t, graphtest.RequireFault(t, err, fault.ServiceUnavailable).Retry())
	require.Equal(t, used, w.usage(agent.ID))
	require.Len(t, w.stored(t), 4)
	made := p.made.Load()
	_, err = w.Attachments.AttachmentDownload(t.Context(), inputOf(pdf))
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Equal(t, made, p.made.Load(), "it is not made again and again")

	w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: 1} // readers do not pay for what was published before
	w.Shift(10 * time.Minute)
	require.NotContains(t, string(contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(pdf))), "Ada")
	require.NotEqual(t, preview, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(photo)))
}

// Too many readers that wait are refused at once.
func TestReadersOfCopiesAreBounded(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	w.publish(t, agent, card.ID)
	w.forget(t, card.ID)
	p.open = make(chan struct{})
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
	require.EqualValues(t, 2, p.made.Load(), "one copy for all of them")
}

// A copy that took three processes with it is not tried again for a while.
func TestCopyThatCrashes(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, photo(t, 1500, 20))
	w.publish(t, agent, card.ID)
	w.forget(t, card.ID)
	p.made.Store(0)
	w.Exec("INSERT INTO attachment_copies (attachment_id, queued_at, attempts) VALUES ($1, stoa_now() - interval '1 minute', 3)", card.ID)
	require.Equal(t, contentOf(t, w.Attachments.AttachmentPreview, t.Context(), inputOf(card)),
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card)))
	require.Zero(t, p.made.Load())
}
