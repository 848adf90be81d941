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
	h.Email.Mailer, h.Email.From = box, &netmail.Address{Address: "stoa@stoa.example"}
	insert, err := jobs.NewEnqueue(h.DB, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	h.Email.InsertJob = insert
	to, err := email.Parse("ada@example.org")
	require.NoError(t, err)
	require.NoError(t, h.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := h.Email.Enqueue(ctx, tx, email.Mail{Kind: mail.KindTest, To: to})
		return err
	}))
	running := h.start()
	const snoozed = `SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND queue = 'mail' AND state = 'scheduled'
		AND scheduled_at > now() + interval '3 seconds' AND attempt < max_attempts
		AND NOT EXISTS (SELECT FROM jsonb_object_keys(args) k WHERE k <> 'mail_id')`
	require.Eventually(t, func() bool { return h.Count(snoozed) == 1 }, patience, 10*time.Millisecond)
	require.NoError(t, running.Stop(t.Context()))
	require.Empty(t, box.To("ada@example.org"))
	open.Store(true)
	h.Exec("UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'send_mail'")
	h.start()
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL") == 1 }, patience, 10*time.Millisecond)
	require.Len(t, box.To("ada@example.org"), 1)
}
