package main

import (
	"context"
	"database/sql"
	_ "embed" // of fill
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/child"
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

// start starts a program on a new database of a name, registers agents and, if d.full, fills it. The caller must stop it.
func (d *database) start(ctx context.Context, name, program string, agents int) (s *server, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return nil, err
	}
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
		_ = s.db.Close() // nothing is written any more
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

// callers are agents that are not each other's friends.
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
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		var ended bool
		if err := s.db.QueryRowContext(ctx, jobsEnded).Scan(&ended); err != nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), errors.New("the jobs that follow a start do not end"))
		case <-ticker.C:
		}
	}
}
