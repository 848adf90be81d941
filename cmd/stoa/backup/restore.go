package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// ErrNotEmpty says that the database holds something that a restore would destroy.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrInUse says that somebody works with the database that is to be replaced.
var ErrInUse = errors.New("the database is in use; stop the server first")

// ErrNone says that there is no backup, or none of that name.
var ErrNone = errors.New("there is no such backup")

// DamagedError says that files of a backup are not what they were when it was made.
type DamagedError struct {
	Backup  string
	Damaged []Damage
}

// Error names the first of the files.
func (e *DamagedError) Error() string {
	const shown = 10
	var text strings.Builder
	fmt.Fprintf(&text, "backup %s is damaged in %d files", e.Backup, len(e.Damaged))
	for _, d := range e.Damaged[:min(shown, len(e.Damaged))] {
		fmt.Fprintf(&text, "\n  %s: %s", d.Path, d.Reason)
	}
	return text.String()
}

const (
	countRelations = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')`
	countSessions  = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	empty          = `DROP SCHEMA public CASCADE; CREATE SCHEMA public`
)

// Restore brings a backup back: the one of that name, or the last one where name is empty. The database must be empty
// (ErrNotEmpty), unless replace is set: then everything in it is deleted first, which needs that nobody else uses it
// (ErrInUse). All checksums of the backup are verified before anything is touched; *DamagedError names the files that do not match. With
// skipDamaged those files are left out and the rest is brought back, unless the database itself is damaged. Files that are in the file store stay; those that are not
// are put there first, so that the database never speaks of a file that is missing. A replaced database is emptied before it is
// filled: when filling it fails it stays empty, and the same restore may be repeated.
func (s Store) Restore(ctx context.Context, name string, replace, skipDamaged bool) (*Manifest, error) {
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
	damaged, err := s.verify(ctx, []Manifest{m}, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	leaveOut := make(map[string]bool)
	for _, d := range damaged {
		leaveOut[d.Path] = true
	}
	if vital := leaveOut[databaseFile] || leaveOut[checksumsFile]; len(damaged) > 0 && (vital || !skipDamaged) {
		return nil, &DamagedError{m.Name, damaged}
	}
	if err := s.free(ctx, replace); err != nil {
		return nil, err
	}
	if err := s.putFiles(ctx, filepath.Join(folder, filesFolder), leaveOut); err != nil {
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
