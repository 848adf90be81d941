package graphtest

import (
	"context"
	"sync"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
)

// InspectWith gives the world its own file store and lets inspect handle what is uploaded, in this process and as
// soon as a job would: after the commit that asks for it. It returns the folder of the store.
func (w *World) InspectWith(inspect attachments.Inspector) (folder string) {
	w.t.Helper()
	folder = w.t.TempDir()
	store, err := attachments.OpenStore(context.Background(), "", folder)
	require.NoError(w.t, err)
	var running sync.WaitGroup
	w.t.Cleanup(func() {
		running.Wait()
		require.NoError(w.t, store.Close())
	})
	w.Attachments.Store = store
	w.Attachments.Enqueue = func(_ context.Context, tx *db.Tx, job db.Job) error {
		tx.AfterCommit(func() {
			running.Go(func() {
				for range 5 { // a job is tried again
					if w.Attachments.Inspect(context.Background(), job.(attachments.InspectJob).AttachmentID, inspect) == nil {
						return
					}
				}
			})
		})
		return nil
	}
	return folder
}
