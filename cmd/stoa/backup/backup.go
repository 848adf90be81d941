// Package backup keeps copies of the database and of the files in a folder, and brings one back (§8).
//
// A backup is a folder named by the time it was begun: the database as pg_dump writes it, the files under their keys, and a
// manifest. It gets its name only when it is complete and on disk; what a crash leaves has another name and is swept away by the next
// one. The database is read first, from one snapshot, and the files after it, so every file that the copy of the database speaks of is
// there, unless it was given up in between. Files never change under their key, so a backup may share those of the one before it by
// hard links: a day costs what the day brought. Backups that share files are a generation; the newest backup is never of the oldest
// one's generation, so there are two independent copies of the files as soon as there are two backups.
//
// Every backup has a list of checksums. Once a day a seventh of all files is read and compared, and a restore compares all of its
// backup. A file that is found damaged is named, and the next backup copies it from the file store again.
//
// One backup is made at a time, whoever asks: processes that share the folder share its lock. Backups are kept for seven days,
// and the last good one for ever.
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
	// kept is how long a backup stays (§8).
	kept = 7 * 24 * time.Hour
	// interval is how old the last backup must be for Daily to make another.
	interval = 24 * time.Hour
	// nameFormat of a backup's folder is also the order in which backups were made.
	nameFormat = "2006-01-02T15-04-05.000Z"
	// partial is how the name of an unfinished backup ends.
	partial = ".partial"
)

// ErrBusy says that a backup is being made or brought back at this moment.
var ErrBusy = errors.New("another backup is being made or restored")

// Store is a folder of backups, and what they are copies of.
type Store struct {
	// Folder holds the backups.
	Folder string
	// Database is the connection URL.
	Database string
	// Files is the file store.
	Files *blob.Bucket
	// Version of the program goes into the manifest.
	Version string
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
			continue // not one of ours
		}
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b Manifest) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
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
	return func() { _ = f.Close() }, nil
}

// Daily makes a backup when the last one is a day old, or when there is none and the database is a day old. It returns nil when none is
// due. Before that it verifies a part of the backups that are there, and returns what of it is damaged.
func (s Store) Daily(ctx context.Context) (*Manifest, []Damage, error) {
	all, err := s.List()
	if err != nil {
		return nil, nil, err
	}
	var since time.Time
	if len(all) > 0 {
		since = all[len(all)-1].MadeAt
	} else if since, err = s.born(ctx); err != nil {
		return nil, nil, err
	}
	if time.Since(since) < interval {
		return nil, nil, nil
	}
	damaged, err := s.verifyPart(ctx)
	if err != nil {
		return nil, nil, err
	}
	made, err := s.Make(ctx)
	return made, damaged, err
}
