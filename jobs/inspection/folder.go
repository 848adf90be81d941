package inspection

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// folder is where one child works and its results are kept. Its descriptor holds a lock, so that one without belongs to a server
// that was killed.
type folder struct {
	path string
	lock *os.File
	// owned reports whether the child's user owns its working folder.
	owned bool
}

const folderPattern = "stoa-inspection-*"

// newFolder makes a folder in scratch (empty: the system's for temporary files) and removes what killed servers have left there.
func newFolder(scratch string, account int) (*folder, error) {
	if scratch == "" {
		scratch = os.TempDir()
	}
	sweepFolders(scratch)
	path, err := os.MkdirTemp(scratch, folderPattern)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path}
	if f.lock, err = os.Open(path); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	if err := os.Mkdir(f.work(), 0o700); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	f.owned = account != 0 && os.Chown(f.work(), account, account) == nil
	return f, nil
}

// work is the folder that the child works in.
func (f *folder) work() string { return filepath.Join(f.path, "work") }

// clear removes what the child worked in and keeps what it made.
func (f *folder) clear() error { return os.RemoveAll(f.work()) }

func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// graceTime is how old a folder without a lock must be: its maker may be about to take the lock.
const graceTime = time.Minute

func sweepFolders(scratch string) {
	left, _ := filepath.Glob(filepath.Join(scratch, folderPattern)) // the pattern is well formed, the folder's name may not be
	for _, path := range left {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < graceTime {
			continue
		}
		dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(path) // another process may be doing so
		}
		_ = dir.Close()
	}
}
