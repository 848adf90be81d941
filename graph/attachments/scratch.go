package attachments

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// scratchPattern names the folders in which files are inspected, in the system's folder for temporary files.
const scratchPattern = "stoa-inspection-*"

// scratchAge keeps a folder that has just been made from being taken for one that a crash left behind.
const scratchAge = 10 * time.Second

// scratch is a folder of one inspection. Its process holds a lock on it, which ends with the process.
type scratch struct {
	folder string
	held   *os.File
}

func newScratch() (*scratch, error) {
	sweepScratch()
	folder, err := os.MkdirTemp("", scratchPattern)
	if err != nil {
		return nil, err
	}
	held, err := lockScratch(folder)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &scratch{folder, held}, nil
}

func (s *scratch) remove() error { return errors.Join(os.RemoveAll(s.folder), s.held.Close()) }

// lockScratch fails where another process holds the lock.
func lockScratch(folder string) (*os.File, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweepScratch removes the folders of inspections whose process has died. Folders of other accounts are left alone.
func sweepScratch() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPattern)) // the pattern is well-formed
	for _, folder := range left {
		info, err := os.Stat(folder)
		if err != nil || time.Since(info.ModTime()) < scratchAge {
			continue
		}
		if held, err := lockScratch(folder); err == nil {
			_ = os.RemoveAll(folder) // what is left is tried again
			_ = held.Close()
		}
	}
}
