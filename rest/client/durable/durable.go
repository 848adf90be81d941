// Package durable writes files so that a crash leaves either the old file or the new one.
package durable

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile replaces a file, of mode 0600, and syncs it to disk before it returns. Several programs may write one file at once.
func WriteFile(path string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // of mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return SyncFolderOf(path)
}

// Locked runs a function that reads a file and then changes it. Functions for files of one folder run one after the other, also
// if different programs run them.
func Locked(path string, change func() error) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close() // it ends the lock
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	return change()
}

// SyncFolderOf syncs the folder of a file to disk, if the system can do that.
func SyncFolderOf(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync() // not every system can sync a folder
	return folder.Close()
}
