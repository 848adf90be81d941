package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// open joins the users of the folder and has a database answer. On an error it
// leaves them again.
func (c *Cluster) open(ctx context.Context) error {
	if err := os.MkdirAll(c.data, 0o700); err != nil {
		return err
	}
	return c.withStartLock(ctx, func(held *os.File) (err error) {
		if c.account, err = chooseAccount(c.data, c.folder); err != nil {
			return err
		}
		if c.programs, err = defaultPaths.find(ctx, majorOf(c.folder)); err != nil {
			return err
		}
		if c.users, err = lock(ctx, filepath.Join(c.data, "postgres.users.lock"), unix.LOCK_SH); err != nil {
			return err
		}
		if err = errors.Join(c.account.chown(held), c.account.chown(c.users)); err == nil {
			err = c.serve(ctx)
		}
		if err != nil {
			return errors.Join(err, c.users.Close())
		}
		return nil
	})
}

func (c *Cluster) serve(ctx context.Context) (err error) {
	if err = c.loadPassword(); err != nil {
		return err
	}
	if err = c.initialise(ctx); err != nil {
		return err
	}
	if c.socket, err = locateSocket(c.folder); err != nil {
		return err
	}
	c.postmaster, err = c.run(ctx)
	return err
}

// close leaves the users of the folder, when the supervisor has ended.
func (c *Cluster) close(ctx context.Context) error {
	defer unlock(c.users)
	defer c.postmaster.release()
	return c.withStartLock(ctx, func(*os.File) error {
		last, err := c.isLast()
		if err != nil || !last {
			return err
		}
		defer c.socket.remove()
		pm, err := c.current(ctx)
		if err != nil || pm == nil {
			return err
		}
		defer pm.release()
		err = pm.shutdown(ctx)
		c.log.Info("database stopped", "folder", c.folder, "pid", pm.pid)
		return err
	})
}

// isLast reports whether no other process uses the folder. A process that is being started may hold the lock of one that has left
// until it runs its own program, so it looks for a moment.
func (c *Cluster) isLast() (bool, error) {
	for until := time.Now().Add(leaveGrace); ; time.Sleep(pollInterval) {
		if last, err := tryLock(c.users, unix.LOCK_EX); last || err != nil || time.Now().After(until) {
			return last, err
		}
	}
}

// leaveGrace is how long isLast looks.
const leaveGrace = 200 * time.Millisecond

// current is the postmaster to shut down, or nil if none runs. It is another than the supervisor's where a process that has left
// since started it.
func (c *Cluster) current(ctx context.Context) (*postmaster, error) {
	if c.postmaster.alive() {
		return c.postmaster, nil
	}
	if err := c.socket.ensure(); err != nil {
		return nil, err
	}
	pid, err := c.socket.listener(ctx)
	if err != nil || pid == 0 {
		return nil, err
	}
	return watchAdopted(pid), nil
}

// withStartLock runs f with the start lock: no other process starts or stops the
// database meanwhile.
func (c *Cluster) withStartLock(ctx context.Context, f func(held *os.File) error) error {
	held, err := lock(ctx, filepath.Join(c.data, "postgres.start.lock"), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer held.Close()
	return f(held)
}
