package cluster

import (
	"context"
	"os"
	"time"
)

const (
	maintenanceInterval = time.Minute            // between looks at the log's size and the socket's link
	minLifetime         = time.Second            // a database that lived this long is started again at once
	minRetryDelay       = 100 * time.Millisecond // pause after a failed start, doubled up to maxRetryDelay
	maxRetryDelay       = 5 * time.Second
)

// supervise starts the database again whenever it ends, until ctx is done.
// Of several processes that share the folder one starts it, the others adopt.
func (c *Cluster) supervise(ctx context.Context) {
	defer close(c.done)
	ticker := time.NewTicker(maintenanceInterval)
	defer ticker.Stop()
	delay, since := minRetryDelay, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.maintain()
			continue
		case <-c.postmaster.exited:
		}
		c.log.Warn("database ended unexpectedly, starting it again", "folder", c.folder, "pid", c.postmaster.pid)
		if time.Since(since) > minLifetime {
			delay = minRetryDelay
		} else if sleep(ctx, delay) != nil {
			return
		}
		for !c.restart(ctx) {
			if sleep(ctx, delay) != nil {
				return
			}
			delay = min(2*delay, maxRetryDelay)
		}
		delay, since = min(2*delay, maxRetryDelay), time.Now()
	}
}

func (c *Cluster) restart(ctx context.Context) bool {
	err := c.withStartLock(ctx, func(*os.File) error {
		pm, err := c.run(ctx)
		if err == nil {
			c.postmaster = pm
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		c.log.Error("database does not start", "folder", c.folder, "error", err)
	}
	return err == nil
}

func (c *Cluster) maintain() {
	if err := c.trimLog(logLimit); err != nil {
		c.log.Warn("cannot trim the database's log", "error", err)
	}
	if err := c.socket.ensure(); err != nil {
		c.log.Warn("cannot restore the link to the database's socket", "error", err)
	}
}
