package operator

import (
	"context"
	"errors"
	"time"

	"stoa/graph/platform/db"
)

// RemovedRetention is how long the texts of a post, service or task are kept that an operator removed (§8).
const RemovedRetention = 30 * 24 * time.Hour

// eraseBatch is how many rows one statement erases.
const eraseBatch = 500

// eraseStatements erase the texts of deleted posts and services and of removed tasks.
var eraseStatements = []*db.Statement{
	statements.Named("erase_posts"), statements.Named("erase_services"), statements.Named("erase_tasks"),
}

// EraseRemoved erases the texts of records that operators removed longer than RemovedRetention ago, and of records that agents
// deleted on a server of a version that kept the texts. It works in batches and returns how many records it changed. Only a job
// calls it.
func (a *API) EraseRemoved(ctx context.Context) (erased int64, err error) {
	for _, s := range eraseStatements {
		n, failed := a.DB.ExecBatches(ctx, s.Text, eraseBatch, RemovedRetention.Seconds())
		erased += n
		err = errors.Join(err, failed)
	}
	return erased, err
}
