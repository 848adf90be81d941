package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// evictionSteps are the signals for processes of a dead postmaster, by how long they have kept the folder locked. An idle one
// ends by itself at once, a busy one only after its statement, whose result is not read.
var evictionSteps = []struct {
	after  time.Duration
	signal syscall.Signal
}{
	{300 * time.Millisecond, syscall.SIGQUIT},
	{3 * time.Second, syscall.SIGKILL},
	{10 * time.Second, 0}, // give up
}

// run returns the postmaster that serves the folder, adopted or started, once
// it answers. The caller holds the start lock.
func (c *Cluster) run(ctx context.Context) (*postmaster, error) {
	if err := c.socket.ensure(); err != nil {
		return nil, err
	}
	step, since := 0, time.Now()
	for {
		pid, err := c.socket.listener(ctx)
		if err != nil {
			return nil, err
		}
		if pid != 0 {
			if pm, err := c.adopt(ctx, pid); pm != nil || err != nil {
				return pm, err
			}
		}
		dir, free, err := openFolder(c.folder)
		if err != nil {
			return nil, err
		}
		if free {
			return c.launch(ctx, dir)
		}
		_ = dir.Close() // read only
		if time.Since(since) > evictionSteps[step].after {
			if evictionSteps[step].signal == 0 {
				return nil, fmt.Errorf("processes that cannot be seen or ended from here keep %s", c.folder)
			}
			c.signalLeftovers(evictionSteps[step].signal)
			step++
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// adopt waits for a running postmaster to answer. It returns nothing where that
// one ended instead.
func (c *Cluster) adopt(ctx context.Context, pid int) (*postmaster, error) {
	pm := watchAdopted(pid)
	if pm == nil {
		return nil, nil
	}
	err := c.ready(ctx, pm, c.setPasswordOnline)
	if err == nil {
		c.log.Info("database adopted", "folder", c.folder, "pid", pm.pid)
		return pm, nil
	}
	pm.release()
	if pm.ended() {
		return nil, nil
	}
	return nil, err
}

// launch starts a postmaster on the folder, whose flock is held, and hands that
// lock over. One that does not come up is ended.
func (c *Cluster) launch(ctx context.Context, dir *os.File) (*postmaster, error) {
	defer dir.Close()
	began := time.Now()
	if err := c.removeStalePIDFiles(); err != nil {
		return nil, err
	}
	if err := c.setPasswordOffline(ctx, dir); err != nil {
		return nil, err
	}
	if err := c.writeSettings(c.folder, false); err != nil {
		return nil, err
	}
	logFile, err := c.openLog()
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	// Not bound to ctx: the database outlives the start.
	cmd := c.command(context.Background(), dir, "postgres", "-D", folderInChild)
	cmd.Stdout, cmd.Stderr = logFile.File, logFile.File
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pm, err := watchChild(cmd)
	if err != nil {
		return nil, err
	}
	_ = dir.Close() // from here on only the database holds the lock
	if err := c.ready(ctx, pm, nil); err != nil {
		last := logFile.tail()
		deadline, cancel := context.WithTimeout(context.Background(), immediateTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("start of the database: %w%s", err, last), pm.shutdown(deadline))
	}
	c.log.Info("database started", "folder", c.folder, "pid", pm.pid, "took", time.Since(began))
	return pm, nil
}

var errEnded = errors.New("it ended")

// refusals is how many log-ins in a row a database that calls itself ready may
// refuse.
const refusals = 100

// ready waits until the postmaster says that it accepts connections, calls
// prepare, if any, and tries one. Recovery after a crash may take minutes; only
// ctx limits it.
func (c *Cluster) ready(ctx context.Context, pm *postmaster, prepare func(ctx context.Context, pid int) error) error {
	refused := 0
	for !pm.ended() {
		record, ok := readPIDFile(filepath.Join(c.folder, "postmaster.pid"))
		if ok && record.pid == pm.pid && record.status == "ready" {
			var err error
			if prepare != nil {
				err = prepare(ctx, pm.pid)
			}
			if err == nil {
				err = c.socket.ping(ctx, c.passwordPath())
			}
			if err == nil {
				return nil
			}
			if refused++; refused == refusals && !pm.ended() {
				return err
			}
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
	return errEnded
}

// signalLeftovers signals the processes that a dead postmaster left behind.
func (c *Cluster) signalLeftovers(signal syscall.Signal) {
	name, err := nameOf(c.folder)
	if err != nil {
		return
	}
	for _, p := range leftovers(name, c.account) {
		c.log.Warn("ending a process of a dead database", "pid", p.pid, "signal", signal)
		p.signal(signal)
	}
}
