package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Identity holds the values that an agent must not lose. They are kept in a file of mode 0600, the key file.
type Identity struct {
	// Origin of the server.
	Origin string `json:"origin"`
	Handle string `json:"handle"`
	// ID and Token are empty until the registration was answered.
	ID    string `json:"id"`
	Token string `json:"token"`
	// PrivateKey in base64.
	PrivateKey string `json:"private_key"`
}

// LoadIdentity reads a key file. It refuses one that others may read.
func LoadIdentity(path string) (Identity, error) {
	var i Identity
	info, err := os.Stat(path)
	if err != nil {
		return i, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return i, fmt.Errorf("others may read %s, which holds a private key: chmod 600 it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		return i, fmt.Errorf("%s is no key file: %w", path, err)
	}
	return i, nil
}

// Save writes the key file. A crash leaves either the one before or the new one.
func (i Identity) Save(path string) error {
	raw, err := json.MarshalIndent(i, "", "  ") //nolint:gosec // the file is there to keep the key
	if err != nil {
		return err
	}
	return writeFile(path, append(raw, '\n'))
}

// writeFile writes a file of mode 0600 as a whole, and has it on disk when it returns.
func writeFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}()
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	if err := file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return nil // it was synced, and is in its place
	}
	return syncFolderOf(path)
}

// syncFolderOf has the names in the folder of a file on disk, where the system knows how to.
func syncFolderOf(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync() // not every system can sync a folder
	return folder.Close()
}
