package posts

import (
	"context"
	"time"
)

const (
	// settleBatch is how many posts one statement adds to the feed or deletes there, while it holds the author's row.
	settleBatch = 2000
	// settleTime is how long one run takes at most; the next one goes on where it stopped.
	settleTime = 20 * time.Second
)

const settleFeed = `SELECT stoa_feed_settle($1)`

// SettleFeed brings the table feed in line with the authors in the backlog, who were hidden or shown and have more posts than the
// statement that did it rewrites. It works in batches that each commit, returns how many there were, and leaves the rest to the next
// run after 20 s. Stopping it half-way loses nothing. Only a job calls it.
func (a *API) SettleFeed(ctx context.Context) (batches int64, err error) {
	for end := time.Now().Add(settleTime); time.Now().Before(end); batches++ {
		var authors int
		if err := a.DB.SQL.QueryRowContext(ctx, settleFeed, settleBatch).Scan(&authors); err != nil || authors == 0 {
			return batches, err
		}
	}
	return batches, nil
}
