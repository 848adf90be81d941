package world

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"stoa/cmd/child"
)

// MinimalCommand is the hidden subcommand of this program that runs the minimal server.
const MinimalCommand = "minimal"

// Announcement stands before the address in the line with which the minimal server announces that it serves.
const Announcement = "serving on "

const operatorToken = "the-operator-token-of-the-benchmark"

// limits are the server's limits that are switched off.
var limits = []string{
	"MUTATIONS_PER_MINUTE", "CONTACT_REQUESTS_PER_MINUTE", "MESSAGES_PER_MINUTE", "REGISTRATIONS_PER_ADDRESS_PER_HOUR",
	"REGISTRATIONS_PER_HOUR", "SEARCHES_PER_MINUTE", "SOCKETS_PER_AGENT", "SOCKETS", "REQUESTS_PER_ADDRESS_PER_SECOND",
	"CONNECTIONS", "CONNECTIONS_PER_ADDRESS",
}

// NoLimits are the settings of a server without the limits that a load would meet.
func NoLimits() []string {
	var settings []string
	for _, name := range limits {
		settings = append(settings, "STOA_LIMIT_"+name+"=0")
	}
	return settings
}

// Serve starts the server, the program at path, without limits, and waits until the hourly jobs that follow a start have ended.
// The caller must stop it.
func (w *World) Serve(ctx context.Context, path string) (*Process, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, absolute, "serve")
	command.Env = append(os.Environ(), "STOA_DATABASE_URL="+w.URL, "STOA_DATA_DIR="+filepath.Join(w.folder, "server"),
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_OPERATOR_TOKEN="+operatorToken,
		"STOA_LOG_FORMAT=json", "STOA_LOG_LEVEL=info")
	command.Env = append(command.Env, NoLimits()...)
	var started time.Time
	if err := w.DB.QueryRowContext(ctx, "SELECT now()").Scan(&started); err != nil {
		return nil, err
	}
	server := new(Process)
	server.Process, err = child.Start(ctx, command, w.log, func(line []byte) (ok bool) {
		server.Address, server.Operator, ok = child.Serving(line)
		return ok
	})
	if err != nil {
		return nil, err
	}
	if err := w.awaitJobs(ctx, started); err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// jobsEnded reports whether the server that started at $1 has become the one that enqueues periodic jobs, and all hourly ones
// have ended.
const jobsEnded = `SELECT EXISTS (SELECT FROM river_leader WHERE elected_at BETWEEN $1 AND now() - interval '2 seconds')
  AND NOT EXISTS (SELECT FROM river_job WHERE queue IN ('maintenance', 'backup') AND finalized_at IS NULL)`

// jobsTimeout is the time in which the jobs that follow a start must end: a first reconciliation reads the whole ledger.
const jobsTimeout = 10 * time.Minute

// awaitJobs waits until the server has run the jobs that it runs when it starts in a new hour: a backup, a reconciliation and
// others.
func (w *World) awaitJobs(ctx context.Context, started time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	const interval = 200 * time.Millisecond
	for {
		var ended bool
		if err := w.DB.QueryRowContext(ctx, jobsEnded, started).Scan(&ended); err != nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}

// Minimal starts the minimal server on the tables of a schema (package baseline), with a garbage collector set to gcPercent. The caller must
// stop it.
func (w *World) Minimal(ctx context.Context, gcPercent int, schema string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, MinimalCommand, w.URL, schema)
	command.Env = append(os.Environ(), "GOGC="+strconv.Itoa(gcPercent))
	server := new(Process)
	server.Process, err = child.Start(ctx, command, w.log, func(line []byte) bool {
		address, ok := bytes.CutPrefix(line, []byte(Announcement))
		server.Address, server.Operator = string(address), string(address)
		return ok
	})
	if err != nil {
		return nil, err
	}
	return server, nil
}
