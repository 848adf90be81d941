package email

import "time"

// WithTimeout shortens how long an attempt over SMTP may take.
func WithTimeout(t Transport, timeout time.Duration) Transport {
	short := *t.(*server)
	short.timeout = timeout
	return &short
}
