// Package durable writes files so that a crash leaves what was there before or what is new, and nothing between.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile writes a file of mode 0600 as a whole, and has it on disk when it returns. Several programs may write one at once.
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

// SyncFolderOf has the names in the folder of a file on disk, if the system can do that.
func SyncFolderOf(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync() // not every system can sync a folder
	return folder.Close()
}
