package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	netmail "net/mail"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/jobs"
)

// A mail that is not accepted waits as a snoozed job, which holds nothing but the mail's id, and is sent by the next attempt.
func TestMailIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	var open atomic.Bool
	box := &graphtest.Mailbox{Refuse: func(*email.Message) error {
		if !open.Load() {
			return errors.New("451 later")
		}
		return nil
	}}
	h.enqueueMail(box)
	running := h.start()
	const snoozed = `SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND queue = 'mail' AND state = 'scheduled'
		AND scheduled_at > now() + interval '3 seconds' AND attempt < max_attempts
		AND NOT EXISTS (SELECT FROM jsonb_object_keys(args) k WHERE k <> 'mail_id')`
	require.Eventually(t, func() bool { return h.Count(snoozed) == 1 }, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, running.Stop(t.Context()))
	require.Empty(t, box.To("ada@example.org"))
	open.Store(true)
	h.Exec("UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'send_mail'")
	h.start()
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL") == 1 }, slack.TestWait, 10*time.Millisecond)
	require.Len(t, box.To("ada@example.org"), 1)
}

// The time of the next attempt is written in the database's time, whatever the clock of the host shows.
func TestRetriesGoByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	require.WithinDuration(t, time.Now(), h.clock.Now(), time.Minute, "both are on this machine")

	h.enqueueMail(&graphtest.Mailbox{Refuse: func(*email.Message) error { return errors.New("451 later") }})
	config := h.config()
	config.Clock = jobs.Ahead(time.Hour)
	running, err := jobs.StartPolling(t.Context(), config, time.Second)
	require.NoError(t, err)
	const later = "SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND state = 'scheduled' AND scheduled_at > now() + interval '1 hour'"
	require.Eventually(t, func() bool { return h.Count(later) == 1 }, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, running.Stop(t.Context()))
}

// When a job may begin is written in the database's time, too.
func TestJobsBeginByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	h.clock = jobs.Ahead(-time.Hour)
	h.enqueueMail(new(graphtest.Mailbox))
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM river_job WHERE state = 'available' AND scheduled_at < now() - interval '59 minutes'"))
}

// A process that dies between taking the job of a mail and claiming the mail delays it by little more than the job's time limit.
func TestTheJobOfADeadProcessIsRunAgain(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	box := new(graphtest.Mailbox)
	h.enqueueMail(box)
	h.Exec("UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '61 seconds', attempted_by = '{dead}'")
	running, err := jobs.StartPolling(t.Context(), h.config(), time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop(context.Background())) })
	require.Eventually(t, func() bool { return len(box.To("ada@example.org")) == 1 }, slack.TestWait, 10*time.Millisecond)
}

// enqueueMail asks for a mail to ada@example.org, which goes to a box.
func (h *world) enqueueMail(box *graphtest.Mailbox) {
	h.t.Helper()
	h.Email.Mailer, h.Email.From = box, &netmail.Address{Address: "stoa@stoa.example"}
	insert, err := jobs.NewEnqueue(h.DB, h.clock, slog.New(slog.DiscardHandler))
	require.NoError(h.t, err)
	h.Email.InsertJob = insert
	to, err := email.Parse("ada@example.org")
	require.NoError(h.t, err)
	require.NoError(h.t, h.DB.Tx(h.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := h.Email.Enqueue(ctx, tx, email.Mail{Kind: mail.KindTest, To: to})
		return err
	}))
}
