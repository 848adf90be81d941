package attachments_test

import (
	"bytes"
	"context"
	"image"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/jobs"
)

// The first reader of a public file finds its copy: the record, the card of the post and the download say the same, and no
// reader asks for anything.
func TestCopyIsThereBeforeTheFileIsPublic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		original []byte
		media    string
		made     int64
	}{
		"large PNG":  {wide(t), "", 1},
		"small PNG":  {picture(t, 30, 30), "", 1},
		"large JPEG": {photo(t, 1500, 20), "image/jpeg", 1},
		"small JPEG": {photo(t, 30, 30), "image/jpeg", 0}, // its preview is the copy
		"PDF":        {document("<< /Author (Ada) >>"), "application/pdf", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &publisher{real: jobs.InspectFile}
			w := newPublishing(t, p)
			agent, other := w.Agent(), w.Agent()
			card := w.upload(t, agent, attachments.Portfolio, c.original)
			in := inputOf(card)
			_, err := w.Attachments.AttachmentDownload(t.Context(), in)
			graphtest.RequireFault(t, err, fault.NotFound)
			before := w.usage(agent.ID)[0]
			posted := w.publish(t, agent, card.ID)
			require.Equal(t, c.made, p.made.Load())
			w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { t.Error("a reader asks for a job"); return nil }

			shown, err := w.Posts.Post(other.Ctx, postInput(posted))
			require.NoError(t, err)
			read, err := w.Attachments.Attachment(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, read.Attachment, shown.Post.Attachments[0])
			file, err := w.Attachments.AttachmentDownload(t.Context(), in)
			require.NoError(t, err)
			content := contentOf(t, w.Attachments.AttachmentDownload, t.Context(), in)
			require.EqualValues(t, len(content), read.Attachment.SizeBytes)
			require.Equal(t, file.MediaType, *read.Attachment.MediaType)
			require.Equal(t, http.DetectContentType(content), file.MediaType)
			if c.media != "" {
				require.Equal(t, c.media, file.MediaType)
			}
			require.NotContains(t, string(content), "Ada")
			if file.MediaType != "application/pdf" {
				want, _, err := image.DecodeConfig(bytes.NewReader(c.original))
				require.NoError(t, err)
				got, _, err := image.DecodeConfig(bytes.NewReader(content))
				require.NoError(t, err)
				require.Equal(t, [2]int{want.Width, want.Height}, [2]int{got.Width, got.Height})
			}
			require.Equal(t, before+c.made*int64(len(content)), w.usage(agent.ID)[0], "the copy counts towards the budget")
			require.Equal(t, w.usage(agent.ID)[0], w.usage(uuid.Nil)[0])
			require.Zero(t, w.Count("SELECT count(*) FROM attachment_copies"))
			require.Equal(t, c.original, contentOf(t, w.Attachments.AttachmentDownload, agent.Ctx, in), "its owner has the original")

			w.Exec("UPDATE attachments SET deleted_at = stoa_now()")
			require.EqualValues(t, 1, w.sweep(t))
			require.Empty(t, w.stored(t), "the copy goes with the file")
			require.Equal(t, [3]int64{0, 0, 1}, w.usage(agent.ID))
		})
	}
}

// Every way to make a file public makes its copy first.
func TestEveryPublicationMakesCopies(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	made := func(want int64, why string) {
		t.Helper()
		require.Equal(t, want, p.made.Swap(0), why)
	}
	first, second := w.upload(t, agent, attachments.Portfolio, wide(t)), w.upload(t, agent, attachments.Portfolio, picture(t, 9, 9))
	kept, err := w.post(agent, "private", first.ID, second.ID)
	require.NoError(t, err)
	made(0, "a private post")
	require.NoError(t, w.show(agent, kept, "public"))
	made(2, "a post that becomes public")
	require.NoError(t, w.show(agent, kept, "private"))
	require.NoError(t, w.show(agent, kept, "public"))
	made(0, "a post that is shown again")
	avatar := w.upload(t, agent, attachments.Avatar, picture(t, 20, 20))
	require.NoError(t, w.wear(agent, avatar.ID))
	made(1, "an avatar")
	w.Show(agent, false)
	w.Show(agent, true)
	made(0, "a profile that is opened again")
	w.Show(agent, false)
	other := w.upload(t, agent, attachments.Avatar, picture(t, 20, 20))
	require.NoError(t, w.wear(agent, other.ID))
	made(1, "an avatar of a closed profile")
	w.Show(agent, true)
	made(0, "everything is there already")
	for _, card := range []*attachments.Card{first, second, other} {
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))
	}
	made(0, "readers find them")
	w.Show(agent, false)
	w.forget(t, first.ID)
	w.forget(t, other.ID)
	w.Show(agent, true)
	made(2, "what an earlier version published is made when the profile opens")
}

// Without room only the publication is refused, never the download of a public file. A repeated request costs no inspection while
// the room is known to be too small.
func TestPublicationWithoutRoom(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	shown := w.upload(t, agent, attachments.Portfolio, picture(t, 20, 20))
	w.publish(t, agent, shown.ID)
	card := w.upload(t, agent, attachments.Portfolio, picture(t, 20, 20))
	hidden, err := w.post(agent, "private", w.upload(t, agent, attachments.Portfolio, picture(t, 20, 20)).ID)
	require.NoError(t, err)
	avatar := w.upload(t, agent, attachments.Avatar, picture(t, 20, 20))
	used, stored := w.usage(agent.ID), len(w.stored(t))
	for name, publish := range map[string]func() error{
		"post":   func() error { _, err := w.post(agent, "public", card.ID); return err },
		"show":   func() error { return w.show(agent, hidden, "public") },
		"avatar": func() error { return w.wear(agent, avatar.ID) },
	} {
		w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: int(used[0]) + 10}
		p.made.Store(0)
		graphtest.RequireFault(t, publish(), fault.StorageQuotaExceeded)
		graphtest.RequireFault(t, publish(), fault.StorageQuotaExceeded)
		require.EqualValues(t, 1, p.made.Load(), name)
		w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: int(used[0])}
		graphtest.RequireFault(t, publish(), fault.StorageQuotaExceeded)
		require.EqualValues(t, 1, p.made.Load(), name)
		require.Equal(t, used, w.usage(agent.ID), name)
		require.Len(t, w.stored(t), stored, name)
		contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(shown))
	}
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM posts"))
	require.Zero(t, w.Count("SELECT count(*) FROM bots WHERE avatar_id IS NOT NULL"))
	w.Attachments.Quotas = limits.Quotas{}
	w.publish(t, agent, card.ID)
	require.NoError(t, w.show(agent, hidden, "public"))
	require.NoError(t, w.wear(agent, avatar.ID))
}

// Several publications at once never take more than the budget.
func TestPublicationsShareTheBudget(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	cards := make([]*attachments.Card, 4)
	for i := range cards {
		cards[i] = w.upload(t, agent, attachments.Portfolio, picture(t, 20, 20))
	}
	used := w.usage(agent.ID)[0]
	w.publish(t, agent, cards[0].ID)
	each := w.usage(agent.ID)[0] - used
	w.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: int(used + 3*each - 1)} // one more
	var group sync.WaitGroup
	results := make([]error, 3)
	for i := range results {
		group.Go(func() { _, results[i] = w.post(agent, "public", cards[i+1].ID) })
	}
	group.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
			continue
		}
		graphtest.RequireFault(t, err, fault.StorageQuotaExceeded)
	}
	require.Equal(t, 1, done)
	require.Equal(t, used+2*each, w.usage(agent.ID)[0])
}

// Copies and uploads share the inspection slots.
func TestCopiesTakeInspectionSlots(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p, graphtest.WithQuotas(limits.Quotas{Inspections: 1}))
	w.Attachments.PublicationWait = time.Minute
	agent := w.Agent()
	first := w.upload(t, agent, attachments.Portfolio, wide(t))
	second := w.upload(t, agent, attachments.Portfolio, wide(t))
	var group sync.WaitGroup
	failures := make([]error, 3)
	for i, card := range []*attachments.Card{first, second} {
		group.Go(func() { _, failures[i] = w.post(agent, "public", card.ID) })
	}
	require.Eventually(t, func() bool { return p.now.Load() == 1 }, slack.TestWait, 10*time.Millisecond)
	group.Go(func() { _, failures[2] = w.send(agent, newForm(attachments.Order, picture(t, 8, 8))) })
	require.Eventually(t, func() bool { return w.pending() != uuid.Nil }, slack.TestWait, 10*time.Millisecond)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachment_copies WHERE lease_until > stoa_now()"))
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE lease_until > stoa_now()"), "the upload waits for the slot")
	require.Zero(t, w.Count("SELECT count(*) FROM posts"), "no post is there before its copies")
	close(p.open)
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, p.most.Load())
}

// A publication whose copies take long changes nothing; the same request finds them later.
func TestPublicationThatTakesLong(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p)
	w.Attachments.PublicationWait = 50 * time.Millisecond
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	for range 2 {
		_, err := w.post(agent, "public", card.ID)
		require.Positive(t, graphtest.RequireFault(t, err, fault.UploadBusy).Retry())
	}
	require.Zero(t, w.Count("SELECT count(*) FROM posts"))
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE bound_id IS NOT NULL"))

	hurry := make(chan struct{})
	close(hurry)
	w.Attachments.PublicationWait, w.Attachments.Hurry = time.Minute, hurry
	_, err := w.post(agent, "public", card.ID)
	graphtest.RequireFault(t, err, fault.UploadBusy)
	w.Attachments.Hurry = nil
	ctx, cancel := context.WithCancel(agent.Ctx)
	cancel()
	_, err = w.post(&graphtest.Agent{Ctx: ctx}, "public", card.ID)
	require.ErrorIs(t, err, context.Canceled)

	close(p.open)
	w.publish(t, agent, card.ID)
	require.EqualValues(t, 1, p.made.Load(), "one copy for all of them")
}

// The wait for copies is not the database's: a request that may wait for the database no longer still gets its post.
func TestPublicationOutlivesTheTimeOfTheDatabase(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p)
	w.Attachments.PublicationWait = time.Minute
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	ctx, cancel := db.Bounded(agent.Ctx, 3*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := w.post(&graphtest.Agent{Ctx: ctx}, "public", card.ID); done <- err }()
	<-ctx.Done()
	require.Empty(t, done)
	close(p.open)
	require.NoError(t, <-done)
}

// One agent cannot have any number of requests wait.
func TestPublicationsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	p := &publisher{open: make(chan struct{})}
	w := newPublishing(t, p)
	w.Attachments.PublicationWait = time.Minute
	agent, other := w.Agent(), w.Agent()
	card, others := w.upload(t, agent, attachments.Portfolio, wide(t)), w.upload(t, other, attachments.Portfolio, wide(t))
	answers := make(chan error, 7)
	for range cap(answers) {
		go func() { _, err := w.post(agent, "public", card.ID); answers <- err }()
	}
	for range cap(answers) - 4 {
		require.Positive(t, graphtest.RequireFault(t, <-answers, fault.UploadBusy).Retry())
	}
	done := make(chan error, 1)
	go func() { _, err := w.post(other, "public", others.ID); done <- err }()
	require.Eventually(t, func() bool { return p.now.Load() == 2 }, slack.TestWait, 10*time.Millisecond, "another agent's is made")
	close(p.open)
	require.NoError(t, <-done)
	published := 0
	for range 4 {
		if err := <-answers; err == nil {
			published++
		} else {
			graphtest.RequireFault(t, err, fault.AttachmentAlreadyBound)
		}
	}
	require.Equal(t, 1, published)
}

// A machine that fails now and then makes the copy in the end; if it never does, nothing is published until the pause is over.
func TestCopyThatFails(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	p.fails.Store(attachments.MaxAttempts)
	_, err := w.post(agent, "public", card.ID)
	require.InDelta(t, time.Minute, graphtest.RequireFault(t, err, fault.ServiceUnavailable).Retry(), float64(10*time.Second))
	_, err = w.post(agent, "public", card.ID)
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Zero(t, p.fails.Load(), "it is not tried without end")
	require.Zero(t, w.Count("SELECT count(*) FROM posts"))
	w.Shift(time.Minute)
	p.fails.Store(attachments.MaxAttempts - 1)
	w.publish(t, agent, card.ID)
	require.EqualValues(t, 1, p.made.Load())

	p.refuses.Store(true)
	_, err = w.post(agent, "public", w.upload(t, agent, attachments.Portfolio, wide(t)).ID)
	graphtest.RequireFault(t, err, fault.InvalidAttachment)
}

// The other faults of a publication come before its copies, which cost an inspection.
func TestCopiesAreTheLastCheck(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	agent := w.Agent()
	card, taken := w.upload(t, agent, attachments.Portfolio, wide(t)), w.upload(t, agent, attachments.Portfolio, picture(t, 9, 9))
	w.publish(t, agent, taken.ID)
	p.made.Store(0)
	_, err := w.post(agent, "public", card.ID, taken.ID)
	graphtest.RequireFault(t, err, fault.AttachmentAlreadyBound)
	_, err = w.post(agent, "public", card.ID, uuid.New())
	graphtest.RequireFault(t, err, fault.InvalidAttachment)
	w.Show(agent, false)
	_, err = w.post(agent, "public", card.ID)
	graphtest.RequireFault(t, err, fault.InvalidVisibility)
	require.Zero(t, p.made.Load())
	require.Zero(t, w.Count("SELECT count(*) FROM attachment_copies"))
}

// A copy whose process died is made by another while the publication still waits.
func TestCopyIsMadeAfterACrash(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	w := newPublishing(t, p)
	w.Attachments.PublicationWait = time.Minute
	agent := w.Agent()
	card := w.upload(t, agent, attachments.Portfolio, wide(t))
	enqueue := w.Attachments.Enqueue
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil } // its process dies
	done := make(chan error, 1)
	go func() { _, err := w.post(agent, "public", card.ID); done <- err }()
	require.Eventually(t, func() bool { return w.Count("SELECT count(*) FROM attachment_copies") == 1 }, slack.TestWait, 10*time.Millisecond)
	w.Exec("UPDATE attachment_copies SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '20 seconds', attempts = 1, size_bytes = 1000")
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), attachments.PublishedKey(card.ID), []byte("half"), nil))
	w.Attachments.Enqueue = enqueue
	n, err := w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Zero(t, n, "while the lease lives, so may the process")
	w.Shift(21 * time.Second)
	n, err = w.Attachments.Recover(context.Background())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, <-done)
	require.NotEqual(t, "half", string(contentOf(t, w.Attachments.AttachmentDownload, t.Context(), inputOf(card))))
	require.Equal(t, w.Count("SELECT sum(size_bytes + preview_bytes + published_bytes) FROM attachments"), w.usage(agent.ID)[0])
}
