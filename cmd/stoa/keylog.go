package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"stoa/graph/keylog"
	"stoa/graph/platform/bounds"
)

// logCommand is about the key log (docs/operating.md).
type logCommand struct {
	NewEpoch newEpochCommand `cmd:"" help:"End the epoch of the key log and begin the next one, with all entries that are left."`
}

type newEpochCommand struct {
	databaseSettings
	logSettings

	Reason string `env:"-" required:"" help:"Why; anyone can read it."`
}

var errReason = fmt.Errorf("--reason must have 1 to %d characters", bounds.Reason)

// Validate refuses a reason that is empty or too long.
func (c *newEpochCommand) Validate() error {
	if size := len([]rune(c.Reason)); strings.TrimSpace(c.Reason) == "" || size > bounds.Reason {
		return errors.Join(c.databaseSettings.Validate(), errReason)
	}
	return c.databaseSettings.Validate()
}

var errNoLog = errors.New("the key log has not begun; a server begins it")

// Run begins a new epoch. Servers that run go on with it.
func (c *newEpochCommand) Run(out io.Writer) error {
	return c.withDatabase(c.logger(os.Stderr), func(ctx context.Context, address string) error {
		next, err := c.newEpoch(ctx, address, c.Reason)
		if err == nil && next == nil {
			err = errNoLog
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "The key log goes on as %s, with %d entries.\n", next.Origin, next.Size)
		return err
	})
}

// newEpoch ends the epoch of a database's key log and begins the next one. It returns nil if the log has not begun.
func (s databaseSettings) newEpoch(ctx context.Context, address, reason string) (next *keylog.Head, err error) {
	signed, err := keylog.NewKeeper(s.logHead()).Greatest()
	if err != nil {
		return nil, err
	}
	err = usePool(s.directURL(address), func(pool *sql.DB) error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit this does nothing
		if next, err = keylog.NewEpoch(ctx, tx, signed, reason); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err != nil {
		return nil, explainDatabaseError(err)
	}
	return next, nil
}

// continueLog begins a new epoch of the key log in a database that was restored. It returns nil if the log has not begun, or if a
// version without a key log made the database.
func (s databaseSettings) continueLog(ctx context.Context, address, reason string) (*keylog.Head, error) {
	var exists bool
	err := usePool(s.directURL(address), func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "SELECT to_regclass('log_head') IS NOT NULL").Scan(&exists)
	})
	if err != nil || !exists {
		return nil, err
	}
	return s.newEpoch(ctx, address, reason)
}

// beginLog begins the key log if no server has begun it, compares it with the heads that its witnesses have signed, and appends
// waiting entries, so that the process has a head to show. A failure does not keep the server from starting.
func (p *process) beginLog(ctx context.Context) error {
	log := p.domains.KeyLog
	err := log.Begin(ctx)
	if err == nil {
		if asked := log.AskWitnesses(ctx); asked != nil {
			level := slog.LevelWarn
			if errors.Is(asked, keylog.ErrBehind) || errors.Is(asked, keylog.ErrForked) {
				level = slog.LevelError
			}
			p.log.Log(ctx, level, "the key log was not compared with the heads of all its witnesses, or lacks one", "error", asked)
		}
		_, err = log.Sequence(ctx)
	}
	if err != nil {
		p.log.ErrorContext(ctx, "the key log is not continued", "error", err)
	}
	return ctx.Err()
}
