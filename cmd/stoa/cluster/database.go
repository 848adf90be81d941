package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"golang.org/x/sys/unix"
)

const (
	pollInterval  = 10 * time.Millisecond
	watchInterval = time.Second      // between checks of another process's database and of the link
	lockWait      = 30 * time.Second // for a locked folder whose database does not answer
	killWait      = 7 * time.Second  // after an immediate shutdown, in which PostgreSQL kills its processes within 5 s
)

// open starts the database, or finds the one that another process runs.
func (c *Cluster) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(c.data, 0o700); err != nil {
		return err
	}
	if c.account, err = chooseAccount(c.data, c.folder); err != nil {
		return err
	}
	guard, err := os.Open(c.data)
	if err != nil {
		return err
	}
	defer guard.Close() // until then no other process starts a database here
	if err := wait(ctx, func() (bool, error) { return tryLock(guard) }); err != nil {
		return err
	}
	defer unlock(guard)
	if c.programs, err = findPrograms(ctx, searchPaths, majorOf(c.folder)); err != nil {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return err
	}
	if c.dir, err = os.OpenFile(c.folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return err
	}
	if err = c.placeLink(); err == nil {
		err = c.startOrShare(ctx, lockWait)
	}
	if err != nil || c.database != nil {
		_ = c.dir.Close() // from then on only the database holds the lock
	}
	return err
}

// startOrShare waits while the folder is locked and its database does not answer, such as during a stop.
func (c *Cluster) startOrShare(ctx context.Context, patience time.Duration) error {
	locked := fmt.Errorf("%s is locked by another process, and its database does not answer", c.folder)
	waiting, cancel := context.WithTimeoutCause(ctx, patience, locked)
	defer cancel()
	return wait(waiting, func() (bool, error) {
		free, err := tryLock(c.dir)
		if free {
			return true, c.start(ctx)
		}
		return err == nil && c.ping(waiting) == nil, err
	})
}

// database is the running database, a child of this process.
type database struct {
	cmd     *exec.Cmd
	started chan error    // receives the result of the start
	exited  chan struct{} // closed when it has ended
	end     error         // how it ended, with its last lines; set before exited is closed
}

// start starts the database on the folder, whose lock it takes over, and waits until it answers. Lock files of PostgreSQL are
// stale then; it compares pids alone and would refuse to start if another program has the pid, as in a container that was started
// again.
func (c *Cluster) start(ctx context.Context) error {
	began := time.Now()
	for _, name := range []string{"postmaster.pid", socketFile + ".lock"} {
		if err := os.Remove(filepath.Join(c.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := errors.Join(c.restorePassword(ctx, c.dir), c.replace(c.folder, settingsFile, c.config.settings())); err != nil {
		return err
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	cmd := c.command(context.Background(), c.dir, "postgres", "-D", folderInChild)
	d := &database{cmd: cmd, started: make(chan error), exited: make(chan struct{})}
	go d.run(log)
	if err := <-d.started; err != nil {
		return err
	}
	if err := c.ready(ctx, d); err != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = d.shutdown(ended) // nothing is lost with a database that has not answered yet
		return err
	}
	c.database = d
	took := time.Since(began).Round(time.Millisecond)
	c.log.Info("database started", "folder", c.folder, "version", c.programs.major, "after", took)
	return nil
}

// run runs the database. The kernel shuts it down fast when the thread that started it ends, so that thread stays.
func (d *database) run(log *logFile) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(d.exited)
	defer func() { _ = log.file.Close() }()
	var last Output
	out := io.MultiWriter(log, &last)
	d.cmd.Stdout, d.cmd.Stderr = out, out
	d.cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	err := d.cmd.Start()
	d.started <- err
	if err == nil {
		err = d.cmd.Wait()
	}
	if err == nil {
		err = errors.New("it was shut down by others")
	}
	d.end = last.Explain("postgres", err)
}

// shutdown ends the database and open transactions. If ctx ends first, it stops the database immediately and returns an error.
func (d *database) shutdown(ctx context.Context) error {
	if ctx.Err() == nil {
		_ = d.cmd.Process.Signal(syscall.SIGINT) // it may have ended, here and below
		select {
		case <-d.exited:
			return nil
		case <-ctx.Done():
		}
	}
	_ = d.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-d.exited:
	case <-time.After(killWait):
		_ = d.cmd.Process.Kill()
		<-d.exited
	}
	return fmt.Errorf("cluster: the database did not end in time: %w", context.Cause(ctx))
}

// ready waits until the database answers. Recovery after a crash may take minutes; only ctx limits it.
func (c *Cluster) ready(ctx context.Context, d *database) error {
	return wait(ctx, func() (bool, error) {
		err := c.ping(ctx)
		refused := pq.As(err)
		switch {
		case pq.As(err, pqerror.InvalidPassword) != nil:
			return true, fmt.Errorf("%w: remove %s, and the next start makes another password", err, c.passwordPath())
		case err == nil || refused != nil && refused.Code != pqerror.CannotConnectNow:
			return true, err
		}
		select {
		case <-d.exited:
			return true, d.end
		default:
			return false, nil
		}
	})
}

// ping logs in as the server will. A database whose every connection is taken counts as answering.
func (c *Cluster) ping(ctx context.Context) error {
	pool, err := sql.Open("postgres", c.URL())
	if err != nil {
		return err
	}
	defer pool.Close()
	if err = pool.PingContext(ctx); pq.As(err, pqerror.TooManyConnections) != nil {
		return nil
	}
	return err
}

// watch reports a database that ends before Stop, and restores the link to the socket if it was removed.
func (c *Cluster) watch() {
	defer close(c.watched)
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	var exited chan struct{}
	if c.database != nil {
		exited = c.database.exited
	}
	for {
		select {
		case <-c.stopping:
			return
		case <-exited:
			c.reportEnd(c.database.end)
			return
		case <-ticker.C:
		}
		if c.database == nil {
			if free, _ := tryLock(c.dir); free { // the next check repeats an error
				unlock(c.dir)
				c.reportEnd(errors.New("another process ran it"))
				return
			}
		}
		if err := c.placeLink(); err != nil {
			c.log.Warn("cannot restore the link to the database's socket", "error", err)
		}
	}
}

func (c *Cluster) reportEnd(err error) {
	err = fmt.Errorf("the database in %s ended: %w", c.folder, err)
	c.log.Error("the database ended", "error", err)
	if c.config.Ended != nil {
		c.config.Ended(err)
	}
}

// tryLock takes the flock of f or reports that others hold it.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases a flock explicitly: a process that is being started may have inherited it until it runs its own program.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// LockFolder makes a folder and locks it until end is called. It returns busy while another process holds the lock.
func LockFolder(folder string, busy error) (end func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	free, err := tryLock(f)
	if err == nil && !free {
		err = busy
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", folder, err), f.Close())
	}
	return func() {
		unlock(f)
		_ = f.Close()
	}, nil
}

// wait calls done until it reports true or fails, or until ctx ends.
func wait(ctx context.Context, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}
