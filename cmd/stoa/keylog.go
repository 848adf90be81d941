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
	"time"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/keylog"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/httpserver"
	"stoa/rest/client/keylog/witness"
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

// Validate refuses a reason that is empty or too long.
func (c *newEpochCommand) Validate() error {
	if size := len([]rune(c.Reason)); strings.TrimSpace(c.Reason) == "" || size > bounds.Reason {
		return errors.Join(c.databaseSettings.Validate(), fmt.Errorf("--reason must have 1 to %d characters", bounds.Reason))
	}
	return c.databaseSettings.Validate()
}

// Run begins a new epoch. Running servers continue with it.
func (c *newEpochCommand) Run(out io.Writer) error {
	return c.withDatabase(c.logger(os.Stderr), func(ctx context.Context, address string) error {
		next, err := c.newEpoch(ctx, address, c.Reason)
		if err == nil && next == nil {
			err = errors.New("the key log has not begun; a server begins it")
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "The key log goes on as %s, with %d entries.\n", next.Origin, next.Size)
		return err
	})
}

// newEpoch ends the epoch of a database's key log and begins the next one. It returns nil if the log has not begun, or if a version
// without a key log made the database.
func (s databaseSettings) newEpoch(ctx context.Context, address, reason string) (next *keylog.Head, err error) {
	signed, err := keylog.NewHeadStore(s.logHead()).Greatest()
	if err != nil {
		return nil, err
	}
	err = db.UsePlain(s.directURL(address), func(pool *sql.DB) error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit this does nothing
		var exists bool
		if err := tx.QueryRowContext(ctx, "SELECT to_regclass('log_head') IS NOT NULL").Scan(&exists); err != nil || !exists {
			return err
		}
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

// witnessCommand is a witness of key logs (§12.4). It needs no database and no server.
type witnessCommand struct {
	Logs   string `env:"-" required:"" placeholder:"FILE" help:"The logs for which it signs: a vkey a line."`
	State  string `env:"-" required:"" placeholder:"FOLDER" help:"Where the last head of each log is kept. Never restore an older copy."`
	Key    string `env:"-" required:"" placeholder:"FILE" help:"The private key; made if the file does not exist."`
	Name   string `env:"-" help:"Name of a key that is made; default: the name of this machine."`
	Listen string `env:"-" required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8070."`
}

const (
	// witnessConnections and witnessConnectionsPerAddress limit the open connections to a witness.
	witnessConnections, witnessConnectionsPerAddress = 512, 64
	// witnessEnd bounds the shutdown of a witness.
	witnessEnd = 5 * time.Second
)

func (c witnessCommand) Validate() error { return checkAddress("listen", c.Listen) }

// Run prints the vkey and signs until SIGTERM or SIGINT.
func (c witnessCommand) Run(out io.Writer) (err error) {
	log := logSettings{LogFormat: "auto"}.logger(os.Stderr)
	known, err := os.ReadFile(c.Logs)
	if err != nil {
		return err
	}
	logs, err := witness.ParseLogs(string(known))
	if err != nil {
		return fmt.Errorf("%s: %w", c.Logs, err)
	}
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			return err
		}
	}
	unlock, err := cluster.LockFolder(c.State, errors.New("another witness uses it"))
	if err != nil {
		return err
	}
	defer unlock()
	signer, vkey, err := witness.OpenKey(c.Key, c.Name)
	if err != nil {
		return err
	}
	handler, err := witness.New(witness.Config{Logs: logs, Signer: signer, Folder: c.State, Logger: log})
	if err != nil {
		return err
	}
	ctx := contextUntilSignal(log)
	server, err := httpserver.Listen(ctx, c.Listen, handler, httpserver.Config{
		Logger: log, Connections: witnessConnections, ConnectionsPerAddress: witnessConnectionsPerAddress,
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, vkey); err != nil {
		return err
	}
	log.Info("witnessing", "address", server.Address(), "logs", len(logs))
	select {
	case err = <-server.Failed():
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), witnessEnd)
	defer cancel()
	return errors.Join(err, server.Shutdown(end))
}

func (s witnessSettings) Validate() error {
	if _, err := witness.ParseTargets(s.Witnesses); err != nil {
		return fmt.Errorf("--witnesses: %w", err)
	}
	return nil
}

func (s witnessSettings) targets() []witness.Target {
	targets, _ := witness.ParseTargets(s.Witnesses) // Validate has parsed them
	return targets
}
