package email_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
)

var errBusy = errors.New("451 4.3.0 mailbox of ADA@example.org busy, ada")

// world is a world with a mailbox.
type world struct {
	*graphtest.World
	t   *testing.T
	box *graphtest.Mailbox
}

func newWorld(t *testing.T) *world {
	t.Helper()
	box := new(graphtest.Mailbox)
	return &world{graphtest.New(t, graphtest.WithMail(box)), t, box}
}

// enqueue adds a test mail to ada@example.org; change alters it.
func (w *world) enqueue(change func(*email.Mail)) uuid.UUID {
	m := email.Mail{Kind: mail.KindTest, To: "ada@example.org"}
	if change != nil {
		change(&m)
	}
	var id uuid.UUID
	require.NoError(w.t, w.DB.Tx(w.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		id, err = w.Email.Enqueue(ctx, tx, m)
		return err
	}))
	return id
}

func (w *world) row(id uuid.UUID) *ent.Mail {
	return graphtest.Got(w.DB.Ent.Mail.Get(w.t.Context(), id))(w.t)
}

func address(t *testing.T, text string) email.Address {
	t.Helper()
	return graphtest.Got(email.Parse(text))(t)
}

func TestMailIsSentOnceWithItsTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bot := w.Agent()
	id := w.enqueue(func(m *email.Mail) { m.BotID = &bot.ID })
	sent := w.Mails("ada@example.org")
	require.Len(t, sent, 1)
	require.Equal(t, "Test mail from Stoa", sent[0].Subject)
	row := w.row(id)
	require.NotNil(t, row.SentAt)
	require.Equal(t, 1, row.Attempts)
	require.Equal(t, "a***@example.org", row.AddressHint)
	require.Equal(t, bot.ID, *row.BotID)
	require.Zero(t, graphtest.Got(w.Email.Deliver(t.Context(), id))(t))
	require.Len(t, w.Mails("ada@example.org"), 1)

	failed := errors.New("rolled back")
	require.ErrorIs(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		graphtest.OK(t)(w.Email.Enqueue(ctx, tx, email.Mail{Kind: mail.KindTest, To: "bob@example.org"}))
		return failed
	}), failed)
	require.Empty(t, w.Mails("bob@example.org"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mails"))
	require.NoError(t, graphtest.Err(w.Email.Deliver(t.Context(), uuid.New())), "a mail that is gone needs nothing")
}

func TestUnknownMailsAreNotEnqueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, m := range []email.Mail{{Kind: "praise", To: "ada@example.org"}, {Kind: mail.KindTest}} {
		require.Error(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return graphtest.Err(w.Email.Enqueue(ctx, tx, m))
		}))
	}
}

// A message has the headers and parts that programs and people need, and no other agent's words, links or images.
func TestMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.enqueue(nil)
	got := w.Mails("ada@example.org")[0]
	row := w.row(id)
	require.Equal(t, "<"+id.String()+"@stoa.example>", got.Header.Get("Message-ID"))
	require.Equal(t, `"Stoa" <stoa@stoa.example>`, got.Header.Get("From"))
	require.Equal(t, "<ada@example.org>", got.Header.Get("To"))
	require.Equal(t, "auto-generated", got.Header.Get("Auto-Submitted"))
	require.WithinDuration(t, row.CreatedAt, graphtest.Got(got.Header.Date())(t), time.Second)
	for _, none := range []string{"User-Agent", "X-Mailer", "List-Unsubscribe", "Precedence", "Reply-To"} {
		require.Empty(t, got.Header.Get(none))
	}
	for _, part := range []string{got.Text, got.HTML} {
		require.Contains(t, part, "This is a test.")
		require.Contains(t, part, row.CreatedAt.UTC().Format("2 January 2006, 15:04:05 UTC"))
		require.Contains(t, part, "Sent automatically by Stoa")
		require.NotContains(t, part, "{{")
	}
	require.NotRegexp(t, `(?i)<(a|img|script|link|style|iframe|form)\b|https?:|url\(`, got.HTML)
	require.True(t, strings.HasPrefix(got.HTML, "<!DOCTYPE html>"))
}

// Temporary failures are retried after growing waits, and the server's answer is stored without the address.
func TestTemporaryFailuresAreRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Email.Attempts = metrics.New("test").Mails
	w.box.Refuse = func(*email.Message) error { return errBusy }
	id := w.enqueue(nil)
	for _, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
		30 * time.Minute, time.Hour, time.Hour} {
		again, err := w.Email.Deliver(t.Context(), id)
		require.ErrorIs(t, err, errBusy)
		require.Equal(t, wait, again)
	}
	row := w.row(id)
	require.Equal(t, 9, row.Attempts)
	require.Equal(t, "451 4.3.0 mailbox of … busy, …", row.LastError)
	require.Nil(t, row.SentAt)
	require.Nil(t, row.RefusedAt)
	w.box.Refuse = nil
	graphtest.OK(t)(w.Email.Deliver(t.Context(), id))
	require.NotNil(t, w.row(id).SentAt)
	require.Len(t, w.Mails("ada@example.org"), 1)
}

func TestRefusedMailIsNotRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.box.Refuse = func(*email.Message) error {
		return &email.RefusedError{Answer: "550 5.1.1 <ada@example.org>: " + strings.Repeat("no\r\n such user ", 40)}
	}
	id := w.enqueue(nil)
	row := w.row(id)
	require.NotNil(t, row.RefusedAt)
	require.True(t, strings.HasPrefix(row.LastError, "refused: 550 5.1.1 <…>: no such user no such user"), row.LastError)
	require.Less(t, len(row.LastError), 310)
	require.NotContains(t, row.LastError, "\n")
	w.box.Refuse = nil
	graphtest.OK(t)(w.Email.Deliver(t.Context(), id))
	require.Empty(t, w.Mails("ada@example.org"))
	require.Nil(t, w.row(id).SentAt)
}

// A mail is given up when sending it is pointless: when it expires, or after three days. The last wait ends there.
func TestExpiredMailIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.box.Refuse = func(*email.Message) error { return errBusy }
	life := slack.Of(5 * time.Second)
	soon := w.Now().Add(life)
	short, long := w.enqueue(func(m *email.Mail) { m.ExpiresAt = &soon }), w.enqueue(nil)
	again, err := w.Email.Deliver(t.Context(), short)
	require.ErrorIs(t, err, errBusy)
	require.LessOrEqual(t, again, life)
	w.box.Refuse = nil
	w.Shift(life + time.Second)
	graphtest.OK(t)(w.Email.Deliver(t.Context(), short))
	require.NotNil(t, w.row(short).ExpiredAt)
	require.Equal(t, "451 4.3.0 mailbox of … busy, …", w.row(short).LastError)
	w.Shift(72 * time.Hour)
	graphtest.OK(t)(w.Email.Deliver(t.Context(), long))
	require.NotNil(t, w.row(long).ExpiredAt)
	require.Empty(t, w.Mails("ada@example.org"))
}

// crash is a mailer whose process dies after the server has accepted the mail and before that is stored.
type crash struct{ *graphtest.Mailbox }

func (c crash) Send(ctx context.Context, m *email.Message) (string, error) {
	if _, err := c.Mailbox.Send(ctx, m); err != nil {
		return "", err
	}
	panic("killed")
}

// After a crash the mail is sent again with the same Message-ID, byte by byte, and then never again.
func TestCrashAfterAcceptanceRepeatsTheMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Email.Mailer = crash{w.box}
	deliver := w.Email.InsertJob
	w.Email.InsertJob = func(context.Context, *db.Tx, db.Job) error { return nil }
	id := w.enqueue(nil)
	require.Panics(t, func() { _, _ = w.Email.Deliver(t.Context(), id) })
	w.Email.Mailer, w.Email.InsertJob = w.box, deliver
	require.NoError(t, graphtest.Err(w.Email.Deliver(t.Context(), id)), "another process leaves a claimed mail alone")
	recovered := func() int { return graphtest.Got(w.Email.Recover(t.Context()))(t) }
	require.Zero(t, recovered())
	require.Len(t, w.Mails("ada@example.org"), 1)
	w.Shift(61 * time.Second)
	require.Equal(t, 1, recovered())
	sent := w.Mails("ada@example.org")
	require.Len(t, sent, 2)
	require.Equal(t, sent[0], sent[1])
	require.NotNil(t, w.row(id).SentAt)
	w.Shift(time.Hour)
	require.Zero(t, recovered())
}

// Many workers with the same job send one mail.
func TestParallelDeliveriesSendOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Email.InsertJob = func(context.Context, *db.Tx, db.Job) error { return nil }
	id := w.enqueue(nil)
	codes := graphtest.AtOnce(20, func(int) error { return graphtest.Err(w.Email.Deliver(context.Background(), id)) })
	require.Equal(t, 20, codes.Count()[""])
	require.Len(t, w.Mails("ada@example.org"), 1)
	require.Equal(t, 1, w.row(id).Attempts)
}

func TestMailWaitsWhileItIsNotSetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Email.Mailer = nil
	id := w.enqueue(nil)
	require.Equal(t, "mail is not set up", w.row(id).LastError)
	w.Email.Mailer = w.box
	graphtest.OK(t)(w.Email.Deliver(t.Context(), id))
	require.Len(t, w.Mails("ada@example.org"), 1)
}

// Rows stay for 90 days after their end; those that wait stay.
func TestEndedMailsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.enqueue(nil)
	w.box.Refuse = func(*email.Message) error { return errBusy }
	waiting := w.enqueue(nil)
	w.Shift(89 * 24 * time.Hour)
	require.Zero(t, graphtest.Got(w.Email.DeleteEnded(t.Context()))(t))
	w.row(sent)
	w.Shift(48 * time.Hour)
	require.EqualValues(t, 1, graphtest.Got(w.Email.DeleteEnded(t.Context()))(t))
	w.row(waiting)
}

func TestMetricsOfWaitingMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown := func() (waiting, oldest float64) {
		values := graphtest.Got(w.Email.Metrics(t.Context()))(t)
		return values[0].Value, values[1].Value
	}
	w.enqueue(nil)
	waiting, oldest := shown()
	require.Zero(t, waiting)
	require.Zero(t, oldest)
	w.box.Refuse = func(*email.Message) error { return errBusy }
	w.enqueue(nil)
	w.Shift(time.Hour)
	w.enqueue(nil)
	waiting, oldest = shown()
	require.InDelta(t, 2, waiting, 0)
	require.InDelta(t, 3600, oldest, 30)
}
