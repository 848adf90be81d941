// Package backup makes backups of the database and the files in a folder, verifies and restores them (docs/running.md).
//
// A backup is a folder named by its start time: the database as pg_dump writes it, the files under their keys, checksums and a
// manifest. It gets its name only when it is complete and on disk; a crash leaves a folder with another name, which the next
// backup deletes. The database is read first, from one snapshot, and the files after it, so every file in the copy of the
// database is there, unless it was deleted in between. Files never change under their key, so a backup may share files with the
// one before by hard links. Backups that share files are a generation. The newest backup is never of the oldest one's
// generation, so two backups hold two independent copies of the files.
//
// Once a day a seventh of all files is compared with its checksum; a restore compares its whole backup. The next backup copies
// a damaged file from the file store again.
//
// Processes that share the folder share its lock: one backup is made at a time. A backup is kept for seven days, the last one
// for ever.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"golang.org/x/sys/unix"
)

const (
	// interval is how old the last backup must be for Daily to make another.
	interval = 24 * time.Hour
	// nameFormat is that of folders; their order is the order in which backups were made.
	nameFormat = "2006-01-02T15-04-05.000Z"
	// partial is the suffix of an unfinished backup's folder.
	partial = ".partial"
)

// ErrNoTables says that the database is not one of Stoa.
var ErrNoTables = errors.New("the database is empty: it has no tables of Stoa, so there is nothing to back up")

// ErrBusy says that another backup is being made or restored.
var ErrBusy = errors.New("another backup is being made or restored")

// Store is a folder of backups, with the database and files that they are of.
type Store struct {
	// Folder holds the backups.
	Folder string
	// Database is the connection URL.
	Database string
	// Files is the file store.
	Files *blob.Bucket
	// Version of the program goes into the manifest.
	Version string
	// Key is the installation's key, which Make puts into the backup; nil leaves it out.
	Key []byte
	// Progress, unless nil, gets the size of each file that was copied or read.
	Progress func(bytes int64)
}

// List returns the complete backups, oldest first.
func (s Store) List() ([]Manifest, error) {
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var found []Manifest
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasSuffix(entry.Name(), partial) {
			continue
		}
		m, err := readManifest(filepath.Join(s.Folder, entry.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // not a backup
		}
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b Manifest) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

func (s Store) progress(bytes int64) {
	if s.Progress != nil {
		s.Progress(bytes)
	}
}

// lock keeps other processes out until the returned function is called, or returns ErrBusy.
func (s Store) lock() (func(), error) {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.Folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("%s: %w", s.Folder, err)
	}
	return func() {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing is not enough: a process that is being started may have inherited f
		_ = f.Close()
	}, nil
}

// Daily makes a backup when the last one is a day old, or when no backup exists and the database is a day old; else it returns
// nil. Before that it verifies a seventh of the files of all backups and returns those that are damaged.
func (s Store) Daily(ctx context.Context) (*Manifest, []Damage, error) {
	all, err := s.List()
	if err != nil {
		return nil, nil, err
	}
	var since time.Time
	if len(all) > 0 {
		since = all[len(all)-1].MadeAt
	} else if since, err = s.firstMigration(ctx); err != nil {
		return nil, nil, err
	}
	if time.Since(since) < interval {
		return nil, nil, nil
	}
	damaged, err := s.verifyDailyPart(ctx)
	if err != nil {
		return nil, nil, err
	}
	made, err := s.Make(ctx)
	return made, damaged, err
}
