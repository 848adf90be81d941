package email_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
)

// budgeted is a world whose mails of an hour are limited, with agents in the trash whose owners get notices.
func budgeted(t *testing.T, mails int) *world {
	t.Helper()
	box := new(graphtest.Mailbox)
	return &world{graphtest.New(t, graphtest.WithMail(box), graphtest.WithQuotas(limits.Quotas{MailsPerHour: mails})), t, box}
}

// try enqueues a mail of a kind and returns its id and whether it went out at once.
func (w *world) try(kind mail.Kind, bot *graphtest.Agent) (id uuid.UUID, sent bool) {
	w.t.Helper()
	id = w.enqueue(func(m *email.Mail) { m.Kind, m.BotID = kind, &bot.ID })
	return id, w.row(id).SentAt != nil
}

// When the hourly budget is used up, other mails wait. None is lost, and waiting costs no attempt. Notices, which can wait for
// days, leave half of the budget to the rest.
func TestTheBudgetOfAnHour(t *testing.T) {
	t.Parallel()
	w := budgeted(t, 10)
	bot := w.Agent()
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", bot.ID)
	var held []uuid.UUID
	for n := range 8 {
		id, sent := w.try(mail.KindTrashNotice, bot)
		require.Equal(t, n < 5, sent, n)
		if !sent {
			held = append(held, id)
		}
	}
	for n := range 7 {
		id, sent := w.try(mail.KindTest, bot)
		require.Equal(t, n < 5, sent, n)
		if !sent {
			held = append(held, id)
		}
	}
	require.EqualValues(t, 10, w.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL"))
	for _, id := range held {
		row := w.row(id)
		require.Zero(t, row.Attempts)
		require.Nil(t, row.CountedAt)
		require.Nil(t, row.ClaimedUntil)
		require.Contains(t, row.LastError, "used up")
		again, err := w.Email.Deliver(t.Context(), id)
		require.Error(t, err, "it is to be called again")
		require.Greater(t, again, time.Second)
		require.LessOrEqual(t, again, 5*time.Minute)
	}
	w.Shift(time.Hour + time.Minute)
	for _, id := range held {
		_, err := w.Email.Deliver(t.Context(), id)
		require.NoError(t, err)
		require.NotNil(t, w.row(id).SentAt)
	}
}

// A mail counts once, however often it is tried, and one that was counted before it was enqueued does not count again.
func TestAMailCountsOnce(t *testing.T) {
	t.Parallel()
	w := budgeted(t, 2)
	bot := w.Agent()
	refuse := true
	w.box.Refuse = func(*email.Message) error {
		if refuse {
			return errBusy
		}
		return nil
	}
	id, sent := w.try(mail.KindTest, bot)
	require.False(t, sent)
	for range 5 {
		_, err := w.Email.Deliver(t.Context(), id)
		require.Error(t, err)
	}
	require.Equal(t, 6, w.row(id).Attempts)
	refuse = false
	for range 3 {
		counted := w.enqueue(func(m *email.Mail) { m.Counted = true })
		require.NotNil(t, w.row(counted).SentAt)
	}
	_, sent = w.try(mail.KindTest, bot)
	require.True(t, sent, "the second that counts")
	_, sent = w.try(mail.KindTest, bot)
	require.False(t, sent)
	_, err := w.Email.Deliver(t.Context(), id)
	require.NoError(t, err, "it has been counted")
	require.NotNil(t, w.row(id).SentAt)
}

// 0 switches the budget off.
func TestNoBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 20 {
		id := w.enqueue(func(m *email.Mail) { m.To = address(t, fmt.Sprintf("ada_%d@example.org", n)) })
		require.NotNil(t, w.row(id).SentAt)
	}
}
