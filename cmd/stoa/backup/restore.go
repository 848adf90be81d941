package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// ErrNotEmpty says that the database holds something that a restore would destroy.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrInUse says that somebody works with the database that is to be replaced.
var ErrInUse = errors.New("the database is in use; stop the server first")

// ErrNone says that there is no backup, or none of that name.
var ErrNone = errors.New("there is no such backup")

const (
	countRelations = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')`
	countSessions  = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	empty          = `DROP SCHEMA public CASCADE; CREATE SCHEMA public`
)

// Restore brings a backup back: the one of that name, or the last one where name is empty. The database must be empty
// (ErrNotEmpty), unless replace is set: then everything in it is deleted first, which needs that nobody else uses it
// (ErrInUse). The backup's checksum is verified before anything is touched. Files that are in the file store stay; those that are not
// are put there first, so that the database never speaks of a file that is missing. A replaced database is emptied before it is
// filled: when filling it fails it stays empty, and the same restore may be repeated.
func (s Store) Restore(ctx context.Context, name string, replace bool) (*Manifest, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, err := s.find(name)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(s.Folder, m.Name)
	if err := m.intact(folder); err != nil {
		return nil, err
	}
	if err := s.free(ctx, replace); err != nil {
		return nil, err
	}
	if err := s.putFiles(ctx, filepath.Join(folder, filesFolder)); err != nil {
		return nil, fmt.Errorf("the files of %s: %w", m.Name, err)
	}
	if replace {
		if err := s.execute(ctx, empty); err != nil {
			return nil, err
		}
	}
	if err := s.load(ctx, filepath.Join(folder, databaseFile)); err != nil {
		return nil, fmt.Errorf("the database of %s: %w", m.Name, err)
	}
	return &m, nil
}

func (s Store) find(name string) (Manifest, error) {
	all, err := s.List()
	if err != nil {
		return Manifest{}, err
	}
	if name == "" && len(all) > 0 {
		return all[len(all)-1], nil
	}
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return Manifest{}, fmt.Errorf("%w in %s: %q", ErrNone, s.Folder, name)
}

// free checks that nothing is lost that nobody meant to lose.
func (s Store) free(ctx context.Context, replace bool) error {
	query, refusal, patience := countRelations, ErrNotEmpty, 0
	if replace {
		query, refusal, patience = countSessions, ErrInUse, 10 // a session may have just ended
	}
	for {
		var n int
		if err := s.query(ctx, query, &n); err != nil || n == 0 {
			return err
		}
		if patience--; patience < 0 {
			return refusal
		}
		time.Sleep(100 * time.Millisecond)
	}
}
