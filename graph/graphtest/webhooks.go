package graphtest

import (
	"context"

	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/webhooks"
)

// WithWebhooks switches webhooks on.
func WithWebhooks(config webhooks.SenderConfig) Option {
	return func(c *graph.Config) { c.Webhooks = webhooks.NewSender(config) }
}

// DeliverWebhooks does what the jobs would until nothing is due: it asks for deliveries and makes them, one webhook after the
// other.
func (w *World) DeliverWebhooks() {
	w.t.Helper()
	ctx := context.Background()
	require.NoError(w.t, w.Webhooks.Queue(ctx, webhooks.Scope{}))
	for asked := w.AskedJobs(); len(asked) > 0; asked = w.AskedJobs() {
		for _, job := range asked {
			switch job := job.(type) {
			case webhooks.DeliverJob:
				require.NoError(w.t, w.Webhooks.Deliver(ctx, job.WebhookID, webhooks.Light))
			case webhooks.DeliverBusyJob:
				require.NoError(w.t, w.Webhooks.Deliver(ctx, job.WebhookID, webhooks.Busy))
			case webhooks.DeliverSlowJob:
				require.NoError(w.t, w.Webhooks.Deliver(ctx, job.WebhookID, webhooks.Slow))
			}
		}
	}
}
