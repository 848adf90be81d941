package cluster

import (
	"context"
	"os"
	"time"
)

const (
	upkeep   = time.Minute            // between looks at the log's size and the socket's link
	healthy  = time.Second            // a database that lived this long is started again at once
	firstTry = 100 * time.Millisecond // pause after a failed start, doubled up to lastTry
	lastTry  = 5 * time.Second
)

// supervise starts the database again whenever it ends, until ctx is done.
// Of several processes that share the folder one starts it, the others adopt.
func (c *Cluster) supervise(ctx context.Context) {
	defer close(c.done)
	ticker := time.NewTicker(upkeep)
	defer ticker.Stop()
	delay, since := firstTry, time.Now()
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
		if time.Since(since) > healthy {
			delay = firstTry
		} else if pause(ctx, delay) != nil {
			return
		}
		for !c.revive(ctx) {
			if pause(ctx, delay) != nil {
				return
			}
			delay = min(2*delay, lastTry)
		}
		delay, since = min(2*delay, lastTry), time.Now()
	}
}

func (c *Cluster) revive(ctx context.Context) bool {
	err := c.exclusively(ctx, func(*os.File) error {
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
