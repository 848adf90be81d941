package main

import (
	"context"
	"database/sql"
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

// variant is a running server with its own database and agents.
type variant struct {
	name    string
	process *child.Process
	address string
	agents  []*load.Agent
	db      *sql.DB
}

// start starts a program on a new database and registers agents. Its name is that of the database, too.
func (d *database) start(ctx context.Context, name, program string, agents int) (v *variant, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	address, err := d.create(ctx, name)
	if err != nil {
		return nil, err
	}
	v = &variant{name: name}
	defer func() {
		if err != nil {
			v.stop()
		}
	}()
	if v.db, err = sql.Open("postgres", address); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "serve")
	command.Env = append(os.Environ(), "STOA_DATABASE_URL="+address, "STOA_DATA_DIR="+filepath.Join(d.folder, name),
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_OPERATOR_TOKEN="+operatorToken, "STOA_LOG_FORMAT=json")
	command.Env = append(command.Env, load.NoLimits()...)
	v.process, err = child.Start(ctx, command, d.log, func(line []byte) (ok bool) {
		v.address, _, ok = child.Serving(line)
		return ok
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "registering %d agents at %s\n", agents, name)
	if v.agents, err = load.Register(ctx, v.address, agents); err != nil {
		return nil, err
	}
	return v, v.awaitJobs(ctx)
}

// stop stops the server. A nil process is allowed.
func (v *variant) stop() {
	v.process.Stop()
	if v.db != nil {
		_ = v.db.Close() // nothing is written any more
	}
}

// jobsEnded reports whether the hourly jobs that follow a start have ended.
const jobsEnded = `SELECT EXISTS (SELECT FROM river_leader WHERE elected_at < now() - interval '2 seconds')
  AND NOT EXISTS (SELECT FROM river_job WHERE queue IN ('maintenance', 'backup') AND finalized_at IS NULL)`

// jobsTimeout is the time in which the jobs that follow a start must end.
const jobsTimeout = 2 * time.Minute

// awaitJobs waits until the server has run the jobs that it runs when it starts: a backup, a reconciliation and others.
func (v *variant) awaitJobs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		var ended bool
		if err := v.db.QueryRowContext(ctx, jobsEnded).Scan(&ended); err != nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), errors.New("the jobs that follow a start do not end"))
		case <-ticker.C:
		}
	}
}
