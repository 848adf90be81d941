package db

import "context"

// Job is work that follows a commit: arguments that the job runner knows by their kind and stores as JSON.
type Job interface{ Kind() string }

// Enqueue adds a job in the transaction that asks for it, so that the job exists exactly when its cause does.
type Enqueue func(ctx context.Context, tx *Tx, job Job) error
