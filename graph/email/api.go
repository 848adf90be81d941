// Package email sends mail to owners (§11): an address rule, a queue in the database, and the mailers.
//
// A mail is a row of `mails` and a job that holds only its id, both written in the transaction that causes it (Enqueue). Its
// text is not stored: Deliver makes it from what the row's reference leads to (kind.go) and hands it to the Mailer. Codes
// and links are derived from the installation's key (secret.go), so neither is stored anywhere. Only what an operator has written to
// an owner is a row of `mail_texts`, whose text goes with the end of the mail.
//
// All mails together have an hourly budget, towards which each counts once (budget.go). A mail that finds it used up waits.
//
// "Sent" means that the mail server accepted the mail; the row keeps that moment. A process claims a mail for a minute before it
// sends it, so two never send the same one at the same time. A temporary failure is retried, after growing waits, until sending
// is pointless. A process that dies between the server's acceptance and the note of it leads to a repeated mail with the same
// Message-ID, never to a lost one: Recover asks again for mails whose claim has run out.
package email

import (
	"context"
	"embed"
	"net/mail"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
)

//go:embed email.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. No client calls them, so they check no caller. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Mailer takes the mails; nil: mail is not set up, and mails wait.
	Mailer Mailer
	// From is the sender of all mails.
	From *mail.Address
	// Origin is where links lead, such as https://stoa.example.
	Origin string
	// Key is the installation's secret, of KeySize bytes.
	Key []byte
	// InsertJob asks for the sending of a mail.
	InsertJob db.Enqueue
	// Attempts counts how attempts end; nil counts nothing.
	Attempts *metrics.Series
}

// SendJob asks for the sending of one mail.
type SendJob struct {
	MailID uuid.UUID `json:"mail_id"`
}

func (SendJob) Kind() string { return "send_mail" }

// Recover asks again for the mails whose sending a crash cut off, and returns how many there were. Called every few seconds, it
// does so a minute after the attempt began.
func (a *API) Recover(ctx context.Context) (n int, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		lost, err := db.Column[uuid.UUID](ctx, tx.SQL, named("requeue_mails"))
		if err != nil {
			return err
		}
		n = len(lost)
		for _, id := range lost {
			if err := a.InsertJob(ctx, tx, SendJob{MailID: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

// EndedRetention is how long the row of a mail is kept after the mail was sent, refused or given up (§8).
const EndedRetention = 90 * 24 * time.Hour

// DeleteEnded deletes the rows of mails that are past EndedRetention and returns how many.
func (a *API) DeleteEnded(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_ended_mails").Text, deleteBatch, EndedRetention.Seconds())
}

// Metrics are the mails of the whole cluster that wait, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	counted, err := db.One[struct {
		Waiting       float64 `db:"waiting"`
		OldestSeconds float64 `db:"oldest_seconds"`
	}](ctx, a.DB.SQL, named("mail_metrics"))
	if err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Name: "stoa_mails_waiting", Value: counted.Waiting},
		{Name: "stoa_mails_oldest_seconds", Value: max(counted.OldestSeconds, 0)},
	}, nil
}
