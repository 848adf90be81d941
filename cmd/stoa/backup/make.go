package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stoa/graph/operator"
)

// Make makes a backup now, and then deletes those that are too old. It returns ErrBusy while another is made or restored,
// ErrNoTables for a database without tables, and *OtherKeyError if s.Key is not the one that the database belongs to. A backup
// that fails leaves nothing.
func (s Store) Make(ctx context.Context) (*Manifest, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.removePartial(); err != nil {
		return nil, err
	}
	before, err := s.List()
	if err != nil {
		return nil, err
	}
	empty, err := s.isEmpty(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	m := Manifest{Empty: empty, Name: now.Format(nameFormat), MadeAt: now, Version: s.Version}
	m.Generation = m.Name
	folder := filepath.Join(s.Folder, m.Name)
	if err := s.fill(ctx, folder+partial, &m, before); err != nil {
		return nil, errors.Join(fmt.Errorf("the backup: %w", err), os.RemoveAll(folder+partial))
	}
	if err := os.Rename(folder+partial, folder); err != nil {
		return nil, err
	}
	return &m, errors.Join(syncFileSystem(s.Folder), s.prune(append(before, m), now))
}

// fill writes the parts of a backup and syncs them.
func (s Store) fill(ctx context.Context, folder string, m *Manifest, before []Manifest) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	var err error
	dump := filepath.Join(folder, databaseFile)
	if err := s.dump(ctx, dump); err != nil {
		return err
	}
	if m.DatabaseBytes, m.DatabaseSHA256, err = digest(dump); err != nil {
		return err
	}
	sums := checksums{databaseFile: m.DatabaseSHA256}
	earlier, err := s.linkSource(before, m.MadeAt)
	if err != nil {
		return err
	}
	if earlier != nil {
		m.Generation = earlier.generation
	}
	if m.Files, m.FilesBytes, err = s.copyFiles(ctx, filepath.Join(folder, filesFolder), earlier, sums); err != nil {
		return err
	}
	if err := s.writeKey(ctx, folder, m, sums); err != nil {
		return err
	}
	if m.ChecksumsSHA256, err = sums.write(folder); err != nil {
		return err
	}
	if err := m.write(folder); err != nil {
		return err
	}
	return syncFileSystem(folder)
}

// syncFileSystem waits until everything written to the file system of a folder is on disk.
func syncFileSystem(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// removePartial removes what a crash left.
func (s Store) removePartial() error {
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), partial) {
			if err := os.RemoveAll(filepath.Join(s.Folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkSource returns the last backup, where the next one may share its files; else nil. Where the last backup is of the oldest
// one's generation the next must copy all files, or one damaged sector could be in every backup.
func (s Store) linkSource(before []Manifest, now time.Time) (*linkSource, error) {
	stay := slices.DeleteFunc(slices.Clone(before), func(m Manifest) bool { return expired(m, now) })
	if len(stay) == 0 {
		return nil, nil
	}
	last := stay[len(stay)-1]
	if last.Generation == "" || last.Generation == stay[0].Generation {
		return nil, nil
	}
	folder := filepath.Join(s.Folder, last.Name)
	sums, err := last.readChecksums(folder)
	if err != nil {
		return nil, nil //nolint:nilerr // verification reports it; the next backup begins a generation
	}
	damaged, err := s.Damaged()
	if err != nil {
		return nil, err
	}
	for _, d := range damaged {
		if d.Backup == last.Name {
			delete(sums, d.Path)
		}
	}
	return &linkSource{folder, last.Generation, sums}, nil
}

func expired(m Manifest, now time.Time) bool { return now.Sub(m.MadeAt) > operator.BackupRetention }

// prune deletes backups that are too old, but never the last one.
func (s Store) prune(all []Manifest, now time.Time) error {
	var failed []error
	for _, m := range all[:len(all)-1] {
		if expired(m, now) {
			failed = append(failed, os.RemoveAll(filepath.Join(s.Folder, m.Name)))
		}
	}
	return errors.Join(failed...)
}
