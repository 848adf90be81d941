package attachments_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func (w *world) dropCopies(t require.TestingT) int64 {
	n, err := w.Attachments.DropCopies(context.Background())
	require.NoError(t, err)
	return n
}

func (w *world) makeMissing(t require.TestingT, p *publisher) int64 {
	n, err := w.Attachments.MakeMissingCopies(context.Background(), p.inspect, time.Now().Add(time.Minute))
	require.NoError(t, err)
	return n
}

// A copy goes, and its room comes back, soon after its file is not public any more; not when its profile is closed.
func TestCopiesOfHiddenFilesAreDropped(t *testing.T) {
	t.Parallel()
	w := newPublishing(t, &publisher{})
	agent := w.Agent()
	picked, avatar := w.upload(t, agent, attachments.Portfolio, wide(t)), w.upload(t, agent, attachments.Avatar, wide(t))
	before := w.usage(agent.ID)
	posted := w.publish(t, agent, picked.ID)
	require.NoError(t, w.wear(agent, avatar.ID))
	w.Shift(time.Hour)
	w.Show(agent, false)
	require.Zero(t, w.dropCopies(t), "a closed profile can be opened at once")
	w.Show(agent, true)
	require.NoError(t, w.show(agent, posted, "private"))
	require.EqualValues(t, 1, w.dropCopies(t))
	require.NoError(t, w.wear(agent, uuid.Nil))
	require.EqualValues(t, 1, w.dropCopies(t))
	require.Equal(t, before, w.usage(agent.ID))
	require.Equal(t, before, w.usage(uuid.Nil))
	require.Len(t, w.stored(t), 4)
	require.Zero(t, w.dropCopies(t))

	require.NoError(t, w.show(agent, posted, "public"), "it is made again")
	contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(picked))
	require.NoError(t, w.show(agent, posted, "private"))
	require.Zero(t, w.dropCopies(t), "one that was just made is kept for a while")
	w.Shift(time.Hour + attachments.CopyRetention)
	require.EqualValues(t, 1, w.dropCopies(t))
}

// The room of a copy comes back even if the process dies between the deletion and that.
func TestRoomOfADroppedCopyComesBack(t *testing.T) {
	t.Parallel()
	w := newPublishing(t, &publisher{})
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	before := w.usage(agent.ID)
	w.publish(t, agent, card.ID)
	w.Exec("UPDATE attachments SET published_bytes = NULL, published_sha256 = NULL, published_type = NULL, published_at = NULL")
	require.NotEqual(t, before, w.usage(agent.ID))
	w.dropCopies(t)
	require.Equal(t, before, w.usage(agent.ID))
}

// What an earlier version published has its copy made by a job, also if its owner's budget is full; until then the first reader
// asks for it. Copies in another format are made anew.
func TestFilesOfAnEarlierVersionGetCopies(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	var cards []*attachments.Card
	for _, original := range [][]byte{wide(t), picture(t, 9, 9), photo(t, 1500, 8), photo(t, 9, 9)} {
		card := w.upload(t, agent, attachments.Portfolio, original)
		w.publish(t, agent, card.ID)
		cards = append(cards, card)
	}
	hidden := w.upload(t, agent, attachments.Portfolio, wide(t))
	for _, card := range append(cards, hidden) {
		w.forget(t, card.ID)
	}
	legacy := []byte("\xff\xd8\xffearlier")
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), attachments.PublishedKey(cards[1].ID), legacy, nil))
	w.Exec(`UPDATE attachments SET published_bytes = 10, published_sha256 = '\x01', reserved_bytes = reserved_bytes + 10 WHERE id = $1`, cards[1].ID)
	earlier, err := w.Attachments.Attachment(t.Context(), inputOf(cards[1]))
	require.NoError(t, err)
	require.Equal(t, "image/jpeg", *earlier.Attachment.MediaType)
	require.Equal(t, legacy, contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(cards[1])))

	p.made.Store(0)
	contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(cards[0]))
	require.EqualValues(t, 1, p.made.Load(), "the first reader asks")
	w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: 1}
	require.EqualValues(t, 2, w.makeMissing(t, p))
	require.EqualValues(t, 3, p.made.Load())
	require.Zero(t, w.makeMissing(t, p))
	made, err := w.Attachments.Attachment(t.Context(), inputOf(cards[1]))
	require.NoError(t, err)
	require.Equal(t, "image/png", *made.Attachment.MediaType)
	for _, card := range cards {
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))
	}
	require.EqualValues(t, 3, p.made.Load())
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE reserved_bytes <> size_bytes + preview_bytes + coalesce(published_bytes, 0)"))
	_, err = w.Attachments.AttachmentDownload(t.Context(), inputOf(hidden))
	graphtest.RequireFault(t, err, fault.NotFound)
}

// Whatever an agent does, and whenever the sweep runs, everyone who may read a file finds its copy, and the budgets count what
// the files take.
func TestPublicFilesAlwaysHaveCopies(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	files := []*attachments.Card{
		w.upload(t, agent, attachments.Portfolio, wide(t)), w.upload(t, agent, attachments.Portfolio, photo(t, 9, 9)),
		w.upload(t, agent, attachments.Avatar, wide(t)), w.upload(t, agent, attachments.Avatar, picture(t, 9, 9)),
	}
	post, err := w.post(agent, "private", files[0].ID, files[1].ID)
	require.NoError(t, err)
	later := time.Duration(0)
	rapid.Check(t, func(r *rapid.T) {
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 8), 1, 6).Draw(r, "steps") {
			switch step {
			case 0:
				w.Show(agent, false)
			case 1:
				w.Show(agent, true)
			case 2:
				require.NoError(r, w.show(agent, post, "private"))
			case 3:
				if err := w.show(agent, post, "public"); err != nil {
					graphtest.RequireFault(t, err, fault.InvalidVisibility)
				}
			case 4, 5:
				require.NoError(r, w.wear(agent, files[step-2].ID))
			case 6:
				require.NoError(r, w.wear(agent, uuid.Nil))
			case 7:
				w.dropCopies(r)
			case 8:
				later += time.Hour
				w.Shift(later)
			}
			made := p.made.Load()
			for _, card := range files {
				file, err := w.Attachments.AttachmentDownload(context.Background(), inputOf(card))
				if err != nil {
					graphtest.RequireFault(t, err, fault.NotFound)
					continue
				}
				reader, err := file.Open(context.Background(), 0)
				require.NoError(r, err)
				require.NoError(r, reader.Close())
			}
			require.Equal(r, made, p.made.Load(), "no reader waits for a copy")
			require.Zero(r, w.Count("SELECT count(*) FROM attachments WHERE reserved_bytes <> size_bytes + preview_bytes + coalesce(published_bytes, 0)"))
			require.Equal(r, w.Count("SELECT sum(reserved_bytes) FROM attachments"), w.usage(agent.ID)[0])
		}
	})
}
