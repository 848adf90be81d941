package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	mailAttempts = Row{
		"stoa_mail_attempts_total", Counter, []string{"outcome"},
		"Attempts to send a mail: sent (the mail server accepted it), refused (for good), failed (it is tried again), held (it waits, because the mails of an hour are used up) or expired (given up, because it could not be sent in time).",
	}
	// MailsWaiting counts mails that are to be sent, from the database.
	MailsWaiting = Row{
		"stoa_mails_waiting", Gauge, nil,
		"Mails that are not sent yet, counted up to 100,000.",
	}
	// MailsOldest is the age of the oldest of them.
	MailsOldest = Row{
		"stoa_mails_oldest_seconds", Gauge, nil,
		"Age of the oldest mail that is not sent yet; 0 if no mail waits.",
	}
	mailDomain = Domain{
		"Mail", "Attempts are of one process; the queue is the cluster's, read from the database.",
		[]Row{mailAttempts, MailsWaiting, MailsOldest},
	}
)

// MailOutcome is how an attempt to send a mail ended.
type MailOutcome string

// The outcomes.
const (
	MailSent    MailOutcome = "sent"
	MailRefused MailOutcome = "refused"
	MailFailed  MailOutcome = "failed"
	MailHeld    MailOutcome = "held"
	MailExpired MailOutcome = "expired"
)

// Mails counts attempts to send a mail.
type Mails struct {
	attempts map[MailOutcome]prometheus.Counter
}

func newMails(registry *prometheus.Registry) *Mails {
	m := &Mails{attempts: make(map[MailOutcome]prometheus.Counter)}
	vec := mailAttempts.counters(registry)
	for _, outcome := range []MailOutcome{MailSent, MailRefused, MailFailed, MailHeld, MailExpired} {
		m.attempts[outcome] = vec.WithLabelValues(string(outcome))
	}
	return m
}

// Done counts an attempt.
func (m *Mails) Done(outcome MailOutcome) {
	if m != nil {
		m.attempts[outcome].Inc()
	}
}
