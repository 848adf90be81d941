// Package world is the environment of a benchmark: a private PostgreSQL cluster with fsync on, seeded with agents, posts,
// messages, friendships and money, and the processes that answer requests. All files are in one folder, which Close removes.
// Processes end with their context.
package world

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	_ "github.com/lib/pq" // the driver

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/machine"
	"stoa/cmd/stoa/cluster"
	"stoa/migrate"
)

// tuning makes room for the pools of all variants. All else are the settings of a private cluster.
const tuning = "max_connections = 200\n"

// observation loads what counts statements, also those inside of functions, and what logs plans, which is off at first. Nothing
// runs in the background that falls on one measurement or another: Calm does it between them. The role is a superuser then, since
// only one may read the log of changes and switch plans on.
const observation = `
shared_preload_libraries = 'pg_stat_statements,auto_explain'
pg_stat_statements.track = all
pg_stat_statements.max = 10000
auto_explain.log_min_duration = -1
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 4GB
`

// World is a running database with its folder.
type World struct {
	// URL of the database.
	URL string
	// DB is for seeding; nothing is measured on it.
	DB *sql.DB
	// Postmaster is the process id of PostgreSQL; its children are the backends.
	Postmaster int
	// Agents are the agents with known keys and tokens. The first two are friends, and so on in pairs.
	Agents []*Agent

	folder  string
	private *cluster.Cluster
	log     *os.File
	// agents and posts are the numbers of seeded rows.
	agents, posts int
	observed      bool
}

// New makes a cluster in a new folder below parent (empty: the system's temporary folder) and migrates it. The caller must call
// Close.
func New(ctx context.Context, parent string) (*World, error) { return create(ctx, parent, false) }

// NewObserved is New with a database that can say where its time goes: see observation.
func NewObserved(ctx context.Context, parent string) (*World, error) {
	return create(ctx, parent, true)
}

func create(ctx context.Context, parent string, observed bool) (w *World, err error) {
	folder, err := os.MkdirTemp(parent, "stoa-bench-")
	if err != nil {
		return nil, err
	}
	w = &World{folder: folder, observed: observed}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	if err := w.startCluster(ctx); err != nil {
		return nil, err
	}
	settings := tuning
	if observed {
		settings += observation
	}
	if err := os.WriteFile(filepath.Join(folder, "postgres", "tuning.conf"), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	w.URL = w.private.URL()
	if w.DB, err = sql.Open("postgres", w.URL); err != nil {
		return nil, err
	}
	if err := w.restart(ctx); err != nil {
		return nil, err
	}
	return w, errors.Join(migrate.Up(ctx, w.DB), baseline.Install(ctx, w.DB))
}

// Calm cleans up after a measurement, and writes all that is in memory.
func (w *World) Calm(ctx context.Context) error {
	for _, statement := range []string{"VACUUM", "CHECKPOINT"} {
		if _, err := w.DB.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// restart stops the database, which writes all its buffers to disk, and starts it again.
func (w *World) restart(ctx context.Context) error {
	if err := w.private.Stop(ctx); err != nil {
		return err
	}
	if err := w.startCluster(ctx); err != nil {
		return err
	}
	var err error
	w.Postmaster, err = w.postmaster(ctx)
	return err
}

func (w *World) startCluster(ctx context.Context) error {
	private, err := cluster.Start(ctx, cluster.Config{
		DataDir: w.folder, Logger: slog.New(slog.NewTextHandler(w.log, nil)), TestRole: w.observed,
	})
	w.private = private
	return err
}

// postmaster returns the parent of a backend.
func (w *World) postmaster(ctx context.Context) (int, error) {
	var backend int
	if err := w.DB.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return 0, err
	}
	return machine.Parent(backend)
}

// closeTimeout is the time in which the database stops.
const closeTimeout = 30 * time.Second

// Close stops the database and removes its folder.
func (w *World) Close() error {
	var errs []error
	if w.DB != nil {
		errs = append(errs, w.DB.Close())
	}
	if w.private != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		errs = append(errs, w.private.Stop(ctx))
	}
	if w.log != nil {
		errs = append(errs, w.log.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(w.folder))...)
}

// Folder is where files of this world can be put.
func (w *World) Folder() string { return w.folder }

// DatabaseLog is the file that PostgreSQL writes its log into.
func (w *World) DatabaseLog() string { return filepath.Join(w.folder, "postgres.log") }

// Size returns the numbers of seeded agents and posts.
func (w *World) Size() (agents, posts int) { return w.agents, w.posts }
