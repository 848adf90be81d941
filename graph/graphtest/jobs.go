package graphtest

import (
	"context"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/webhooks"
)

// jobs holds the jobs that committed transactions of a world have added. Nothing runs them.
type jobs struct {
	mu    sync.Mutex
	asked []db.Job
}

func (j *jobs) add(_ context.Context, tx *db.Tx, job db.Job) error {
	tx.AfterCommit(func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.asked = append(j.asked, job)
	})
	return nil
}

// AskedJobs returns the jobs that were added since the last call.
func (w *World) AskedJobs() []db.Job {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	asked := w.jobs.asked
	w.jobs.asked = nil
	return asked
}

// WithWebhooks switches webhooks on.
func WithWebhooks(config webhooks.SenderConfig) Option {
	return func(c *graph.Config) { c.Webhooks = webhooks.NewSender(config) }
}

// DeliverWebhooks does the work of the jobs until nothing is due: it queues deliveries and makes them, one webhook after the
// other.
func (w *World) DeliverWebhooks() {
	ctx := context.Background()
	require.NoError(w.t, w.Webhooks.Queue(ctx, webhooks.Scope{}))
	for asked := w.AskedJobs(); len(asked) > 0; asked = w.AskedJobs() {
		for _, job := range asked {
			if job, ok := job.(webhooks.DeliverJob); ok {
				require.NoError(w.t, w.Webhooks.Deliver(ctx, job.WebhookID))
			}
		}
	}
}

// InspectWith gives the world its own file store and lets inspect handle uploads, in this process and at once after the commit
// that adds the job. It returns the folder of the store.
func (w *World) InspectWith(inspect attachments.Inspector) (folder string) {
	folder = w.t.TempDir()
	store := Got(attachments.OpenStore(context.Background(), "", folder))(w.t)
	var running sync.WaitGroup
	w.t.Cleanup(func() {
		running.Wait()
		require.NoError(w.t, store.Close())
	})
	w.Attachments.Store = store
	w.Attachments.Enqueue = func(_ context.Context, tx *db.Tx, job db.Job) error {
		tx.AfterCommit(func() {
			running.Go(func() {
				for range 100 { // a job is tried again, also while the lease of its last attempt is still being given back
					if w.Attachments.Inspect(context.Background(), job.(attachments.InspectJob).AttachmentID, inspect) == nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		})
		return nil
	}
	return folder
}
