package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// ErrNotEmpty says that the database holds tables that a restore would delete.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrInUse says that other sessions use the database that is to be replaced.
var ErrInUse = errors.New("the database is in use; stop the server first")

// ErrNotFound says that there is no backup, or none of that name.
var ErrNotFound = errors.New("there is no such backup")

// DamagedError says that files of a backup are damaged.
type DamagedError struct {
	Backup  string
	Damaged []Damage
}

// Error names the first ten of the files.
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
	countRelations = `SELECT count(*) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')`
	countSessions = `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	emptySchema = `DROP SCHEMA public CASCADE; CREATE SCHEMA public`
)

// RestoreOptions say what to restore, and what to give up for it.
type RestoreOptions struct {
	// Name of the backup; empty: the last one.
	Name string
	// Replace deletes everything in the database first; else the database must be empty.
	Replace bool
	// SkipDamaged leaves out files that are damaged.
	SkipDamaged bool
	// KeyFingerprint is of the installation's key; empty if it has none.
	KeyFingerprint string
	// TakeKey puts the key to which the backup belongs in place of the installation's, by PutKey, from this or another backup of
	// the folder; so does a restore into an installation without one.
	TakeKey bool
	PutKey  func(key []byte) error
	// NewKey goes on with another key than the backup's: the restored database belongs to the key of the next server that starts.
	NewKey bool
}

// Restore restores a backup. The database must be empty (ErrNotEmpty), unless o.Replace is set: then no other session may use it
// (ErrInUse). All checksums are verified before anything is changed; *DamagedError names the files that do not match. With
// o.SkipDamaged those files are left out, unless the database or the list of checksums is damaged. A backup that belongs to
// another key than the installation's is refused (*OtherKeyError, ErrNoKey), unless o says what to do about it. Files in the file
// store stay. Missing files are written before the database, so that no row refers to a missing file. Where filling a replaced
// database fails, it stays empty, and the same restore may be repeated.
func (s Store) Restore(ctx context.Context, o RestoreOptions) (*Manifest, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, err := s.find(o.Name)
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
	if vital := leaveOut[databaseFile] || leaveOut[checksumsFile]; len(damaged) > 0 && (vital || !o.SkipDamaged) {
		return nil, &DamagedError{m.Name, damaged}
	}
	if err := s.checkReplaceable(ctx, o.Replace); err != nil {
		return nil, err
	}
	forget, err := s.settleKey(m, o)
	if err != nil {
		return nil, err
	}
	if err := s.putFiles(ctx, filepath.Join(folder, filesFolder), leaveOut); err != nil {
		return nil, fmt.Errorf("the files of %s: %w", m.Name, err)
	}
	if o.Replace {
		if err := s.execute(ctx, emptySchema); err != nil {
			return nil, err
		}
	}
	if err := s.load(ctx, filepath.Join(folder, databaseFile)); err != nil {
		return nil, fmt.Errorf("the database of %s: %w", m.Name, err)
	}
	if forget {
		return &m, s.forgetKey(ctx)
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
	if len(all) == 0 {
		return Manifest{}, fmt.Errorf("%w: %s holds none", ErrNotFound, s.Folder)
	}
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return Manifest{}, fmt.Errorf("%w in %s: %q", ErrNotFound, s.Folder, name)
}

// checkReplaceable returns ErrNotEmpty or ErrInUse where the restore must not go on.
func (s Store) checkReplaceable(ctx context.Context, replace bool) error {
	query, refusal, attempts := countRelations, ErrNotEmpty, 0
	if replace {
		query, refusal, attempts = countSessions, ErrInUse, 10 // a session may be just about to end
	}
	for {
		var n int
		if err := s.query(ctx, query, &n); err != nil || n == 0 {
			return err
		}
		if attempts--; attempts < 0 {
			return refusal
		}
		time.Sleep(100 * time.Millisecond)
	}
}
