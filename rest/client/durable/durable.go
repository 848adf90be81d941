// Package durable writes files so that a crash leaves either the old file or the new one.
package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile replaces a file, of mode 0600, and syncs it to disk before it returns. Several programs may write one file at once.
func WriteFile(path string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // of mode 0600
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, errors.Unwrap(err))
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

// Marks returns the members of a JSON object in a file; a file that does not exist has none.
func Marks[Mark any](path string) (map[string]Mark, error) {
	marks := make(map[string]Mark)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return marks, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &marks)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return marks, nil
}

// ChangeMarks calls change with the marks of a file, and writes them if it reports that they have changed. Changes of files of one
// folder run one after the other, also if different programs make them.
func ChangeMarks[Mark any](path string, change func(marks map[string]Mark) bool) error {
	unlock, err := Lock(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	marks, err := Marks[Mark](path)
	if err != nil || !change(marks) {
		return err
	}
	raw, err := json.Marshal(marks)
	if err != nil {
		return err
	}
	return WriteFile(path, raw)
}

// Lock waits for the lock of a folder, which one goroutine of all programs can hold. unlock ends it.
func Lock(path string) (unlock func(), err error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return func() { _ = folder.Close() }, unix.Flock(int(folder.Fd()), unix.LOCK_EX)
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
