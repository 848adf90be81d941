package migrate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io/fs"
)

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

// applyFunctions runs the files that changed, in one transaction. Bodies are not checked while it runs, so the files may refer to each
// other in any order; the tests call every function.
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
