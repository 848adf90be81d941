package email_test

import (
	"bytes"
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
	for i, kind := range []mail.Kind{mail.KindTrashNotice, mail.KindTest} {
		for n := range 8 - i {
			id, sent := w.try(kind, bot)
			require.Equal(t, n < 5, sent, n)
			if !sent {
				held = append(held, id)
			}
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
		require.Error(t, err, "it must be called again")
		require.Greater(t, again, time.Second)
		require.LessOrEqual(t, again, 5*time.Minute)
	}
	w.Shift(time.Hour + time.Minute)
	for _, id := range held {
		graphtest.OK(t)(w.Email.Deliver(t.Context(), id))
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
		require.Error(t, graphtest.Err(w.Email.Deliver(t.Context(), id)))
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
	require.NoError(t, graphtest.Err(w.Email.Deliver(t.Context(), id)), "it has been counted")
	require.NotNil(t, w.row(id).SentAt)
}

func withKey(b byte) *email.API { return &email.API{Key: bytes.Repeat([]byte{b}, email.KeySize)} }

// Each digit is as frequent at each place as every other: chi-squared with 9 degrees of freedom is below 40 in all but one of
// 100,000 cases, and the ids are always the same.
func TestCodesAreUnbiased(t *testing.T) {
	t.Parallel()
	const n = 60_000
	a := withKey(1)
	var count [6][10]int
	seen := make(map[string]bool)
	for i := range n {
		code := a.Code(uuid.NewSHA1(uuid.Nil, []byte{byte(i), byte(i >> 8), byte(i >> 16)}))
		require.Regexp(t, `^\d{6}$`, code)
		seen[code] = true
		for place, digit := range code {
			count[place][digit-'0']++
		}
	}
	require.Greater(t, len(seen), n*95/100, "codes repeat by chance alone")
	for place := range count {
		chi := 0.0
		for _, found := range count[place] {
			off := float64(found) - n/10
			chi += off * off / (n / 10)
		}
		require.Less(t, chi, 40.0, "place %d: %v", place, count[place])
	}
}

func TestSecretsDependOnEverything(t *testing.T) {
	t.Parallel()
	one, other := withKey(1), withKey(2)
	id := uuid.Must(uuid.NewV7())
	first := one.Code(id)
	require.Equal(t, first, one.Code(id))
	tokens := []string{
		one.LinkToken(email.ConfirmLink, id), one.LinkToken(email.RestoreLink, id), one.LinkToken(email.ConfirmLink, uuid.New()),
		other.LinkToken(email.ConfirmLink, id), one.LinkToken(email.Link{}, id),
	}
	for i, token := range tokens {
		require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, token)
		for _, different := range tokens[i+1:] {
			require.NotEqual(t, token, different)
		}
	}
	require.True(t, one.Follows(email.ConfirmLink, id, tokens[0]))
	for _, wrong := range append(tokens[1:], "", tokens[0][:42], tokens[0]+"A") {
		require.False(t, one.Follows(email.ConfirmLink, id, wrong))
	}
	require.True(t, one.IsCode(id, one.Code(id)))
	same := 0
	for range 100 {
		next := uuid.New()
		if one.Code(next) == other.Code(next) || one.Code(next) == one.Code(id) {
			same++
		}
		require.False(t, one.IsCode(next, "") || one.IsCode(next, one.Code(next)+"0"))
	}
	require.Less(t, same, 3)
}

func TestNothingIsDerivedWithoutAKey(t *testing.T) {
	t.Parallel()
	a := &email.API{Key: []byte("short")}
	require.Panics(t, func() { a.Code(uuid.New()) })
	require.Panics(t, func() { a.LinkToken(email.ConfirmLink, uuid.New()) })
}
