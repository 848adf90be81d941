package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is how often a condition of the file system or of another process is
// looked at again.
const pollInterval = 10 * time.Millisecond

// lock opens the file, creating it where it is missing, and waits until it has
// the flock. Closing the file gives the lock back, and so does dying.
func lock(ctx context.Context, path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		held, err := tryLock(f, how)
		if held {
			return f, nil
		}
		if err == nil {
			err = sleep(ctx, pollInterval)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("waiting for %s: %w", path, err), f.Close())
		}
	}
}

// tryLock takes the flock or reports that others hold it. Where f already has a
// shared lock, a refused exclusive one may have cost it that lock.
func tryLock(f *os.File, how int) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, fmt.Errorf("flock %s: %w", f.Name(), err)
		}
	}
}

// unlock gives the flock back and closes the file. Closing alone is not enough: a process that is being started may have inherited
// it, and holds the lock until it runs its own program.
func unlock(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	_ = f.Close()
}

// openFolder opens the directory; free reports whether its flock could be
// taken, which means that no process of the cluster is left.
func openFolder(path string) (dir *os.File, free bool, err error) {
	dir, err = os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, err
	}
	if free, err = tryLock(dir, unix.LOCK_EX); err != nil {
		return nil, false, errors.Join(err, dir.Close())
	}
	return dir, free, nil
}

// sleep waits, or returns the error of a context that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
