// Package migrate brings a database to the schema this binary needs.
//
// The numbered files of sql/ hold tables, indexes, drops and data; they are applied once, in order, each in its own transaction.
// The files of functions/ hold the current text of every function and trigger; those that changed are applied after them, all in
// one transaction. River's own tables come last. An advisory lock lets one process at a time migrate, so any number of servers
// may start against an empty database together.
//
// Two versions may work on one database while servers are replaced. A database that a newer version has migrated stays as it is
// and counts as current: a migration removes nothing that the version before it needs (README.md). No migration waits longer
// than a second for a table, because all others would wait behind it; it then fails with SQLSTATE 55P03 and may be tried
// again.
package migrate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed sql/*.sql functions/*.sql
var files embed.FS

// lockKey is the advisory lock under which one process migrates.
const lockKey = 7_061_001

// lockInterval is how often the lock is tried. A statement that waited for the lock would hold a snapshot, whose end CREATE INDEX
// CONCURRENTLY awaits.
const lockInterval = 200 * time.Millisecond

// Up applies the missing migrations. It may be called by any number of processes at once and does nothing when nothing is missing
// or a newer version has migrated.
func Up(ctx context.Context, database *sql.DB) (err error) {
	conn, err := database.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := lock(ctx, conn); err != nil {
		return fmt.Errorf("migrate: wait for another process: %w", err)
	}
	defer func() {
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", lockKey)
		err = errors.Join(err, unlockErr)
	}()
	provider, err := newProvider(database)
	if err != nil {
		return err
	}
	applied, err := appliedVersion(ctx, database, provider)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if applied > newest(provider) {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := applyFunctions(ctx, conn); err != nil {
		return fmt.Errorf("migrate: functions: %w", err)
	}
	migrator, err := rivermigrate.New(riverdatabasesql.New(database), nil)
	if err != nil {
		return fmt.Errorf("migrate: open river's migrations: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate: river: %w", err)
	}
	return nil
}

func lock(ctx context.Context, conn *sql.Conn) error {
	for tick := time.NewTicker(lockInterval); ; {
		var locked bool
		err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", lockKey).Scan(&locked)
		if err != nil || locked {
			tick.Stop()
			return err
		}
		<-tick.C
	}
}

// Current reports whether every migration and every function of this binary is applied, or a newer version has migrated.
func Current(ctx context.Context, database *sql.DB) (bool, error) {
	provider, err := newProvider(database)
	if err != nil {
		return false, err
	}
	applied, err := appliedVersion(ctx, database, provider)
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	if applied != newest(provider) {
		return applied > newest(provider), nil
	}
	changed, err := changedFunctions(ctx, database)
	if err != nil {
		return false, fmt.Errorf("migrate: functions: %w", err)
	}
	return len(changed) == 0, nil
}

// Hash is the hash of all files: databases that were migrated under the same hash have the same schema.
func Hash() string {
	sum := sha256.New()
	_ = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error { // reading embedded files cannot fail
		if err == nil && !entry.IsDir() {
			text, _ := files.ReadFile(path)
			sum.Write(text)
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))
}

func newProvider(database *sql.DB) (*goose.Provider, error) {
	scripts, err := fs.Sub(files, "sql")
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, database, scripts)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return provider, nil
}

// functionFile is one file of functions/: SQL that can be run again and again.
type functionFile struct {
	name, text string
	hash       []byte
}

// querier is a pool or one of its connections.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// changedFunctions returns the files that differ from the last applied version.
func changedFunctions(ctx context.Context, q querier) ([]functionFile, error) {
	applied, err := appliedFunctions(ctx, q)
	if err != nil {
		return nil, err
	}
	paths, err := fs.Glob(files, "functions/*.sql")
	if err != nil {
		return nil, err
	}
	var changed []functionFile
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			return nil, err
		}
		hash := sha256.Sum256(text)
		if !bytes.Equal(applied[path], hash[:]) {
			changed = append(changed, functionFile{path, string(text), hash[:]})
		}
	}
	return changed, nil
}

// appliedFunctions returns the hashes of the files that were applied last, by name.
func appliedFunctions(ctx context.Context, q querier) (applied map[string][]byte, err error) {
	var exists bool
	if err := q.QueryRowContext(ctx, `SELECT to_regclass('function_files') IS NOT NULL`).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT name, hash FROM function_files`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	applied = make(map[string][]byte)
	for rows.Next() {
		var (
			name string
			hash []byte
		)
		if err := rows.Scan(&name, &hash); err != nil {
			return nil, err
		}
		applied[name] = hash
	}
	return applied, rows.Err()
}

// applyFunctions runs the files that changed, in one transaction. Bodies are not checked while it runs, so the files may refer to
// each other in any order; the tests call every function.
func applyFunctions(ctx context.Context, conn *sql.Conn) error {
	changed, err := changedFunctions(ctx, conn)
	if err != nil || len(changed) == 0 {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit this does nothing
	if _, err := tx.ExecContext(ctx, `SET LOCAL check_function_bodies = off; SET LOCAL lock_timeout = '1s';
		CREATE TABLE IF NOT EXISTS function_files (name text PRIMARY KEY, hash bytea NOT NULL)`); err != nil {
		return err
	}
	for _, file := range changed {
		if _, err := tx.ExecContext(ctx, file.text); err != nil {
			return errors.Join(errors.New(file.name), err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO function_files (name, hash) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET hash = excluded.hash`, file.name, file.hash); err != nil {
			return err
		}
	}
	return tx.Commit()
}
