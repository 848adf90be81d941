package graphtest

import (
	"context"
	"sync"

	"stoa/graph/platform/db"
)

// jobs are those that the transactions of a world have asked for and committed; nothing works them.
type jobs struct {
	mu    sync.Mutex
	asked []db.Job
}

// add implements db.Enqueue.
func (j *jobs) add(_ context.Context, tx *db.Tx, job db.Job) error {
	tx.AfterCommit(func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.asked = append(j.asked, job)
	})
	return nil
}

// AskedJobs returns the jobs that were asked for since it was called last.
func (w *World) AskedJobs() []db.Job {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	asked := w.jobs.asked
	w.jobs.asked = nil
	return asked
}
