// Package email sends mail to owners (§11): an address rule, a queue in the database, and the mailers.
//
// A mail is a row of `mails` and a job that holds only its id, both written in the transaction that causes it (Enqueue). Its text
// is not stored: Deliver renders it from the record that the row refers to (kind.go) and hands it to the Mailer. Codes and links
// are derived from the installation's key (kind.go), so neither is stored. Only the text of an operator to an owner is stored,
// in `mail_texts`, until the mail has ended.
//
// All mails share an hourly budget, towards which each counts once (enqueue.go). A mail waits while the budget is used up.
//
// "Sent" means that the mail server accepted the mail; the row stores the time. A process claims a mail for a minute before it
// sends it, so two never send the same one at the same time. A temporary failure is retried, after growing waits, until sending
// is pointless. If a process dies after the server has accepted a mail and before it stores that, the mail is sent again with the
// same Message-ID. No mail is lost: Recover requeues mails whose claim has expired.
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
	// Mailer sends the mails. If it is nil, mail is not set up and mails wait.
	Mailer Mailer
	// From is the sender of all mails.
	From *mail.Address
	// Origin is the public URL with which links begin, such as https://stoa.example.
	Origin string
	// Key is the installation's secret, of KeySize bytes.
	Key []byte
	// InsertJob adds a SendJob.
	InsertJob db.Enqueue
	// Attempts counts how attempts end; nil counts nothing.
	Attempts *metrics.Series
}

// SendJob is the job that sends one mail.
type SendJob struct {
	MailID uuid.UUID `json:"mail_id"`
}

func (SendJob) Kind() string { return "send_mail" }

// Recover requeues the mails whose sending a crash interrupted, and returns their number. If it is called every few seconds, it
// requeues a mail a minute after the attempt began.
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
	return a.DB.ExecBatches(ctx, named("delete_ended_mails"), deleteBatch, EndedRetention.Seconds())
}

// Metrics returns figures about the waiting mails of the whole cluster, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	return metrics.Read(ctx, a.DB.SQL, named("mail_metrics"))
}
