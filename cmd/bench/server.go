package main

import (
	"context"
	"database/sql"
	_ "embed" // of fill
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	_ "github.com/lib/pq" // the driver

	"stoa/cmd/bench/load"
	"stoa/cmd/child"
	"stoa/cmd/stoa/cluster"
)

// operatorToken opens the operator listener.
const operatorToken = "the-operator-token-of-the-benchmark"

// server is a running Stoa with its own database and agents.
type server struct {
	process *child.Process
	// api is the base URL of its API, operator the address of its operator listener, url the URL of its database.
	api, operator, url string
	db                 *sql.DB
	agents             []*load.Agent
}

//go:embed fill.sql
var fill string

// start starts a program on a new database with that name, registers agents and, if d.full is set, fills it. The caller must stop
// it.
func (d *database) start(ctx context.Context, name, program string, agents int) (s *server, err error) {
	s = new(server)
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.url, s.db, err = d.create(ctx, name); err != nil {
		return s, err
	}
	command := exec.CommandContext(ctx, program, "serve")
	command.Env = append(os.Environ(), "STOA_DATABASE_URL="+s.url, "STOA_DATA_DIR="+filepath.Join(d.folder, name),
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_OPERATOR_TOKEN="+operatorToken, "STOA_LOG_FORMAT=json")
	command.Env = append(command.Env, load.NoLimits()...)
	s.process, err = child.Start(ctx, command, d.log, func(line []byte) bool {
		address, operator, ok := child.Serving(line)
		s.api, s.operator = "http://"+address+"/api/v1", operator
		return ok
	})
	if err != nil {
		return s, err
	}
	fmt.Fprintf(os.Stderr, "registering %d agents at %s\n", agents, name)
	if s.agents, err = load.Register(ctx, s.api, agents); err != nil {
		return s, err
	}
	if d.full {
		fmt.Fprintf(os.Stderr, "filling %s\n", name)
		if _, err := s.db.ExecContext(ctx, fill); err != nil {
			return s, fmt.Errorf("fill.sql: %w", err)
		}
	}
	return s, s.awaitJobs(ctx)
}

func (s *server) stop() {
	s.process.Stop()
	if s.db != nil {
		_ = s.db.Close() // all writes have ended
	}
}

// variant is the server as one side of the comparison.
func (s *server) variant(name string) variant {
	return variant{
		name: name, pid: s.process.PID, db: s.db,
		measure: func(ctx context.Context, scenario load.Scenario, connections int, length time.Duration) (int, time.Duration, error) {
			return load.Run(ctx, scenario.Do, s.api, s.callers(connections), length)
		},
	}
}

// callers returns agents that are not each other's friends.
func (s *server) callers(connections int) []*load.Agent {
	callers := make([]*load.Agent, connections)
	for i := range callers {
		callers[i] = s.agents[2*i]
	}
	return callers
}

// jobsEnded reports whether the jobs that follow a start have ended.
const jobsEnded = `SELECT EXISTS (SELECT FROM river_leader WHERE elected_at < now() - interval '2 seconds')
  AND NOT EXISTS (SELECT FROM river_job WHERE state IN ('available', 'running'))`

// jobsTimeout is the time in which the jobs that follow a start must end.
const jobsTimeout = 5 * time.Minute

// awaitJobs waits until the server has run the jobs that it runs when it starts: a backup, a reconciliation, the activity of the last 30
// days and others.
func (s *server) awaitJobs(ctx context.Context) error {
	for begun := time.Now(); time.Since(begun) < jobsTimeout; time.Sleep(200 * time.Millisecond) {
		var ended bool
		if err := s.db.QueryRowContext(ctx, jobsEnded).Scan(&ended); err != nil || ended {
			return err
		}
	}
	return errors.New("the jobs that follow a start do not end")
}

// settings keep PostgreSQL's background work out of the measurements; calm does it between them. observation loads the counter
// of statements and the log of plans, which is off at first.
var (
	settings    = []string{"checkpoint_timeout = '1h'", "max_wal_size = '8GB'", "autovacuum = off"}
	observation = "shared_preload_libraries = pg_stat_statements, auto_explain"
)

// database is a private PostgreSQL with fsync on in a separate folder, with a database for each program.
type database struct {
	folder  string
	log     *os.File
	private *cluster.Cluster
	sql     *sql.DB
	// postmaster is the process whose children are the backends.
	postmaster int
	// full is true if the databases of servers are filled.
	full bool
}

// newDatabase makes a PostgreSQL with settings in a new folder below parent. The caller must call close.
func newDatabase(ctx context.Context, parent string, settings []string) (d *database, err error) {
	folder, err := os.MkdirTemp(parent, "stoa-bench-")
	if err != nil {
		return nil, err
	}
	d = &database{folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return d, err
	}
	config := cluster.Config{DataDir: folder, Logger: slog.New(slog.NewTextHandler(d.log, nil)), TestRole: true}
	if d.private, err = cluster.Start(ctx, config); err != nil {
		return d, err
	}
	if d.sql, err = sql.Open("postgres", d.private.URL()); err != nil {
		return d, err
	}
	for _, setting := range settings {
		if _, err := d.sql.ExecContext(ctx, "ALTER SYSTEM SET "+setting); err != nil {
			return d, err
		}
	}
	if err := d.private.Stop(ctx); err != nil {
		return d, err
	}
	if d.private, err = cluster.Start(ctx, config); err != nil {
		return d, err
	}
	const postmaster = `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)`
	return d, d.sql.QueryRowContext(ctx, postmaster).Scan(&d.postmaster)
}

// create makes a database and returns its URL and a pool, which the caller must close.
func (d *database) create(ctx context.Context, name string) (string, *sql.DB, error) {
	if _, err := d.sql.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	address, err := url.Parse(d.private.URL())
	if err != nil {
		return "", nil, err
	}
	address.Path = "/" + name
	db, err := sql.Open("postgres", address.String())
	return address.String(), db, err
}

// calm vacuums the database after a measurement and writes a checkpoint.
func calm(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// closeTimeout bounds the stop of the database.
const closeTimeout = 30 * time.Second

// close stops the database and removes its folder.
func (d *database) close() error {
	var errs []error
	if d.sql != nil {
		errs = append(errs, d.sql.Close())
	}
	if d.private != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		errs = append(errs, d.private.Stop(ctx))
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(d.folder))...)
}
