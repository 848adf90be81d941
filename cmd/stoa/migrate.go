package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/migrate"
)

// migrateCommand migrates the database before the server starts; serve does the same by itself.
type migrateCommand struct {
	databaseSettings
	logSettings

	Plan bool `env:"-" help:"Print the steps and the tables that they would lock, and do nothing."`
}

// clusterStopTimeout bounds the stop of a private cluster that ran for one command only.
const clusterStopTimeout = 10 * time.Second

// Run applies the missing migrations; a private cluster runs only meanwhile. It makes no cluster: serve makes a new one with the
// schema of its version, so a data folder without a database has nothing to migrate.
func (c *migrateCommand) Run(out io.Writer) error {
	log := c.logger(os.Stderr)
	return c.withDatabase(log, func(ctx context.Context, address string) error {
		address = c.directURL(address)
		if c.Plan {
			return planMigration(ctx, address, out)
		}
		if err := c.migrate(ctx, address, log); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "The database is at the schema of this version.")
		return err
	})
}

// migrate shows on standard error how long it takes.
func (c *migrateCommand) migrate(ctx context.Context, address string, log *slog.Logger) error {
	defer startProgress(os.Stderr, terminal.Is(os.Stderr), "migrating", unknownTotal, false).end()
	return migrateDatabase(ctx, address, log)
}

// planMigration prints the steps that migrateDatabase would take.
func planMigration(ctx context.Context, address string, out io.Writer) error {
	var steps []migrate.Step
	err := usePool(address, func(pool *sql.DB) (err error) {
		if err = checkServerVersion(ctx, pool); err == nil {
			steps, err = migrate.Plan(ctx, pool)
		}
		return err
	})
	if err != nil {
		return explainDatabaseError(err)
	}
	var text strings.Builder
	for _, step := range steps {
		text.WriteString(step.Name)
		if step.Purpose != "" {
			text.WriteString(": " + step.Purpose)
		}
		text.WriteString("\n")
		for _, lock := range step.Locks {
			text.WriteString("    locks " + lock + "\n")
		}
	}
	_, err = io.WriteString(out, cmp.Or(text.String(), "Nothing: the database is at the schema of this version.\n"))
	return err
}

const (
	minRetryDelay = 200 * time.Millisecond
	maxRetryDelay = 5 * time.Second
)

// migrateDatabase waits until the database answers, and brings its schema to this version. It returns an error only if waiting
// does not help: a refused login, a server that is too old, a migration that fails. address must lead to sessions.
func migrateDatabase(ctx context.Context, address string, log *slog.Logger) error {
	// A separate pool: the server's pool has a statement timeout, and a migration may take long.
	return awaitDatabase(ctx, address, log, func(pool *sql.DB) error {
		if err := checkServerVersion(ctx, pool); err != nil {
			return err
		}
		return whileStarting(log, func() error { return migrate.Up(ctx, pool) })
	})
}

// awaitDatabase calls do with a pool until the database is there, and returns its last error.
func awaitDatabase(ctx context.Context, address string, log *slog.Logger, do func(*sql.DB) error) error {
	pool, err := db.OpenPlain(address)
	if err != nil {
		return err
	}
	defer pool.Close()
	for delay := minRetryDelay; ; delay = min(2*delay, maxRetryDelay) {
		err := do(pool)
		if err == nil || ctx.Err() != nil || !isTransient(err) {
			return explainDatabaseError(err)
		}
		log.Warn("waiting for the database", "database", redactURL(address), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
	}
}

// schemaCheckInterval is how long the schema counts as current without another check, since anybody may request /readyz.
const schemaCheckInterval = 2 * time.Second

var errOldSchema = errors.New("migrations are missing")

// checkSchema is the readiness check that every migration of this binary is applied. While the database does not answer, the
// last result stays; the check of the database reports the outage.
func checkSchema(database *sql.DB) metrics.Check {
	var current atomic.Pointer[time.Time] // when the schema was found current; nil if it was not
	return func(ctx context.Context) error {
		checked := current.Load()
		if checked != nil && time.Since(*checked) < schemaCheckInterval {
			return nil
		}
		complete, err := migrate.Current(ctx, database)
		switch {
		case err != nil && checked != nil:
			return nil
		case err == nil && !complete:
			current.Store(nil)
			return errOldSchema
		case err == nil:
			now := time.Now()
			current.Store(&now)
		}
		return err
	}
}
