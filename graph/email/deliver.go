package email

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/mail"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

// waits are the waits after the first, second, … failed attempt; the last one repeats.
var waits = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

const (
	// recordTimeout bounds the retries to store an accepted mail while the database is unavailable.
	recordTimeout = 10 * time.Second
	// maxHold is the longest wait until a mail that the hourly budget holds back is tried again.
	maxHold = 5 * time.Minute
	// maxError is the maximum length of a stored error in bytes.
	maxError = 300
)

var (
	errNotSetUp = errors.New("mail is not set up")
	// errHeld is the error of a mail that waits because the hourly budget is used up.
	errHeld = errors.New("the mails of this hour are used up")
)

// claimed is a mail that this process sends.
type claimed struct {
	ID        uuid.UUID  `db:"id"`
	Kind      mail.Kind  `db:"kind"`
	Address   string     `db:"address"`
	BotID     *uuid.UUID `db:"bot_id"`
	Reference *uuid.UUID `db:"reference"`
	CreatedAt time.Time  `db:"created_at"`
	Attempts  int        `db:"attempts"`
	Counted   bool       `db:"counted"`
	Now       time.Time  `db:"now"`
	// Deadline is when the mail is given up.
	Deadline time.Time `db:"deadline"`
}

// Deliver sends a mail and stores the result. It does nothing if the mail is done, gone, or being sent elsewhere. An error means
// that it should be called again after the wait. Only a job calls it.
func (a *API) Deliver(ctx context.Context, id uuid.UUID) (again time.Duration, err error) {
	m, err := db.Find[claimed](ctx, a.DB.SQL, named("claim_mail"), id)
	if err != nil {
		return waits[0], err
	}
	if m == nil {
		return 0, nil
	}
	if !m.Deadline.After(m.Now) {
		return waits[0], a.end(ctx, m, metrics.MailExpired, nil)
	}
	if k, known := kinds[m.Kind]; known && a.Mailer != nil {
		wait, err := a.count(ctx, m, k.budget)
		if err != nil {
			return waits[0], err // the claim runs out by itself
		}
		if wait > 0 {
			return min(wait, maxHold), errors.Join(errHeld, a.end(ctx, m, metrics.MailHeld, errHeld))
		}
	}
	failed := a.send(ctx, m)
	refused := new(RefusedError)
	switch {
	case failed == nil:
		return waits[0], a.end(ctx, m, metrics.MailSent, nil)
	case errors.As(failed, &refused):
		return waits[0], a.end(ctx, m, metrics.MailRefused, refused)
	case errors.Is(failed, sql.ErrNoRows), ent.IsNotFound(failed):
		return waits[0], a.end(ctx, m, metrics.MailExpired, nil)
	}
	again = waits[min(m.Attempts, len(waits))-1]
	again = max(min(again, m.Deadline.Sub(m.Now)), time.Second)
	return again, errors.Join(failed, a.end(ctx, m, metrics.MailFailed, failed))
}

// send renders the mail and hands it to the mailer.
func (a *API) send(ctx context.Context, m *claimed) error {
	k, known := kinds[m.Kind]
	if a.Mailer == nil || !known {
		return errNotSetUp // or a newer version with the same database added this kind of mail
	}
	to, err := Parse(m.Address)
	if err != nil {
		return err
	}
	content, err := k.load(ctx, a, m)
	if err != nil {
		return err
	}
	message, err := newMessage(m.ID, a.From, to, m.CreatedAt, k, content)
	if err != nil {
		return err
	}
	_, err = a.Mailer.Send(ctx, message)
	return err
}

// end stores how an attempt ended, even if ctx is cancelled. It retries for a while if the database is unavailable, because an
// accepted mail that is not stored as such would be sent again.
func (a *API) end(ctx context.Context, m *claimed, outcome string, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	a.Attempts.Count(outcome)
	return db.RetryUnavailable(ctx, func(ctx context.Context) error {
		return db.Exec(ctx, a.DB.SQL, named("end_attempt"), m.ID, outcome, describe(failed, m.Address))
	})
}

// describe returns an error for operators: one short line that names neither the address nor its local part.
func describe(failed error, address string) string {
	if failed == nil {
		return ""
	}
	text := oneLine(failed.Error())
	local, _, _ := strings.Cut(address, "@")
	for _, hidden := range []string{address, local} {
		whole := regexp.MustCompile(`(?i)(^|[^\w.+-])` + regexp.QuoteMeta(hidden) + `($|[^\w+-])`)
		text = whole.ReplaceAllString(text, "${1}…${2}")
	}
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return text
}

// oneLine replaces control characters, invalid ones and runs of white space by one space each.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return strings.Join(strings.Fields(text), " ")
}
