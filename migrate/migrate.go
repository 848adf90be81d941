// Package migrate brings a database to the schema this binary needs.
//
// The files of sql/ are applied in order, each in a transaction of its own, and after them River's own tables. An
// advisory lock lets one process at a time migrate, so any number of servers may start against an empty database together.
package migrate

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed sql/*.sql
var files embed.FS

// lockKey is the advisory lock under which one process migrates.
const lockKey = 7_061_001

// Up applies what is missing. It may be called by any number of processes at once and does nothing when nothing is missing.
func Up(ctx context.Context, database *sql.DB) (err error) {
	conn, err := database.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", lockKey); err != nil {
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
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
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

// Current tells whether every migration of this binary is applied.
func Current(ctx context.Context, database *sql.DB) (bool, error) {
	provider, err := newProvider(database)
	if err != nil {
		return false, err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	return !pending, nil
}

// Scripts are the migrations in goose's format, by file name.
func Scripts() fs.FS {
	scripts, err := fs.Sub(files, "sql")
	if err != nil {
		panic(err) // only for a path that is not valid, and this one is constant
	}
	return scripts
}

func newProvider(database *sql.DB) (*goose.Provider, error) {
	provider, err := goose.NewProvider(goose.DialectPostgres, database, Scripts())
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return provider, nil
}
