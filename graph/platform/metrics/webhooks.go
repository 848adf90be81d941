package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	webhookAttempts = Row{
		"stoa_webhook_attempts_total", Counter, []string{"outcome"},
		"Attempts to deliver to a webhook: acknowledged, failed (it is tried again, unless it was a test), given_up (the last one failed) or gone (the endpoint answered 410).",
	}
	webhookSeconds = Row{
		"stoa_webhook_attempt_seconds", Histogram, nil,
		"How long the endpoint of a webhook took.",
	}
	// WebhooksWaiting counts deliveries that are to be made, from the database.
	WebhooksWaiting = Row{
		"stoa_webhook_deliveries_waiting", Gauge, nil,
		"Deliveries to webhooks that are due or will be, counted up to 100,000.",
	}
	// WebhooksLate is how long the oldest delivery that is due waits.
	WebhooksLate = Row{
		"stoa_webhook_deliveries_late_seconds", Gauge, nil,
		"For how long the delivery to a webhook is due that waits longest; 0 where none is.",
	}
	// WebhooksFailing counts webhooks that were given up.
	WebhooksFailing = Row{
		"stoa_webhooks_failing", Gauge, nil,
		"Webhooks whose endpoint failed until the last attempt.",
	}
	webhookDomain = Domain{
		"Webhooks", "Attempts are of one process; what waits is the cluster's, read from the database.",
		[]Row{webhookAttempts, webhookSeconds, WebhooksWaiting, WebhooksLate, WebhooksFailing},
	}
)

// WebhookOutcome is how an attempt to deliver to a webhook ended.
type WebhookOutcome string

// The outcomes.
const (
	WebhookAcknowledged WebhookOutcome = "acknowledged"
	WebhookFailed       WebhookOutcome = "failed"
	WebhookGivenUp      WebhookOutcome = "given_up"
	WebhookGone         WebhookOutcome = "gone"
)

// Webhooks counts attempts to deliver to webhooks.
type Webhooks struct {
	attempts map[WebhookOutcome]prometheus.Counter
	seconds  prometheus.Observer
}

func newWebhooks(registry *prometheus.Registry) *Webhooks {
	w := &Webhooks{
		attempts: make(map[WebhookOutcome]prometheus.Counter),
		seconds:  webhookSeconds.histograms(registry, latencies).WithLabelValues(),
	}
	vec := webhookAttempts.counters(registry)
	for _, outcome := range []WebhookOutcome{WebhookAcknowledged, WebhookFailed, WebhookGivenUp, WebhookGone} {
		w.attempts[outcome] = vec.WithLabelValues(string(outcome))
	}
	return w
}

// Done counts an attempt.
func (w *Webhooks) Done(outcome WebhookOutcome, took time.Duration) {
	if w == nil {
		return
	}
	w.attempts[outcome].Inc()
	w.seconds.Observe(took.Seconds())
}
