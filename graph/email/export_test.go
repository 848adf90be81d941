package email

import "time"

// WithTimeout shortens how long an attempt over SMTP may take.
func WithTimeout(t Mailer, timeout time.Duration) Mailer {
	short := *t.(*server)
	short.timeout = timeout
	return &short
}
