package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/doctor/engine"
	"stoa/cmd/stoa/terminal"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/readpool"
	"stoa/migrate"
)

// requireDatabase returns an error unless a database is set or the data folder has one. Only serve makes one: any other command
// would make an empty database in a wrong folder.
func (s databaseSettings) requireDatabase() error {
	if s.DatabaseURL != "" {
		return nil
	}
	err := cluster.Exists(s.DataDir)
	if errors.Is(err, cluster.ErrNoCluster) {
		return fmt.Errorf("%w, and no --database-url is set; name the server's data folder (--data-dir or STOA_DATA_DIR), or let"+
			" stoa serve make the database of a new one", err)
	}
	return err
}

// locateDatabase returns the configured URL, or the URL of the private cluster, which it starts. It makes a cluster if the data
// folder has none, so commands other than serve call requireDatabase first. The cluster is nil if a URL was set; otherwise the
// caller must stop it. ended is called if the database ends before that.
func (s databaseSettings) locateDatabase(ctx context.Context, log *slog.Logger, ended func(error)) (string, *cluster.Cluster, error) {
	if s.DatabaseURL != "" {
		return spreadHosts(s.DatabaseURL), nil, nil
	}
	var private *cluster.Cluster
	err := whileStarting(log, func() (err error) {
		private, err = cluster.Start(ctx, cluster.Config{DataDir: s.DataDir, Logger: log, Ended: ended})
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return private.URL(), private, nil
}

// withDatabase calls act with the URL of a database that requireDatabase has found. A private cluster that no server runs is
// started, and stopped afterwards.
func (s databaseSettings) withDatabase(log *slog.Logger, act func(ctx context.Context, address string) error) (err error) {
	if err := errors.Join(s.actAsOwner(), s.requireDatabase()); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(contextUntilSignal(log))
	defer end(nil)
	address, private, err := s.locateDatabase(ctx, log, end)
	if err != nil {
		return err
	}
	if private != nil {
		defer func() {
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), clusterStopTimeout)
			defer cancel()
			err = errors.Join(err, private.Stop(stopping))
		}()
	}
	return act(ctx, address)
}

// directURL returns the URL for work that needs a session: listening, session locks, migrations, backups. main is the URL of the
// database.
func (s databaseSettings) directURL(main string) string {
	if s.DatabaseDirectURL != "" {
		return spreadHosts(s.DatabaseDirectURL)
	}
	return main
}

// spreadHosts rewrites a URL with several hosts, such as postgres://stoa@a:5432,b/stoa, so that its parameters name the hosts:
// libpq reads both forms, lib/pq only the second. A connection then goes to the first host that answers and meets
// target_session_attrs. Other connection strings stay unchanged.
func spreadHosts(address string) string {
	scheme, rest, isURL := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@') + 1
	if !isURL || !strings.Contains(authority[at:], ",") {
		return address
	}
	var hosts, ports []string
	for one := range strings.SplitSeq(authority[at:], ",") {
		host, port, err := net.SplitHostPort(one)
		if err != nil {
			host, port = strings.Trim(one, "[]"), "5432"
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	path, query, _ := strings.Cut(rest, "?")
	if query != "" {
		query = "&" + query
	}
	return scheme + "://" + authority[:at] + path + "?host=" + url.QueryEscape(strings.Join(hosts, ",")) +
		"&port=" + url.QueryEscape(strings.Join(ports, ",")) + query
}

// checkServerVersion refuses a PostgreSQL that is too old.
func checkServerVersion(ctx context.Context, pool *sql.DB) error {
	var number int
	if err := pool.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number); err != nil {
		return err
	}
	if number < engine.MinServerVersion {
		return fmt.Errorf("the database is PostgreSQL %d; version %d or newer is needed", number/10000, engine.MinServerVersion/10000)
	}
	return nil
}

// explainDatabaseError adds advice to errors of lib/pq that contain none.
func explainDatabaseError(err error) error {
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return fmt.Errorf("the database: %w; without TLS the URL must end in ?sslmode=disable", err)
	}
	if err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	return nil
}

// redactURL returns the parts of a connection URL that a log may hold: host and database.
func redactURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" {
		return "(as set)" // the key=value form
	}
	host := parsed.Host
	if several := parsed.Query().Get("host"); strings.Contains(several, ",") {
		host = several
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: host, Path: parsed.Path}).String()
}

// minReplicaLag is the least bound: with a measurement every second, an answer of a current replica may count as two seconds old.
const minReplicaLag = 3 * time.Second

// checkReplica refuses a replica of a private cluster, and a URL that lib/pq cannot read.
func (s replicaSettings) checkReplica(databaseURL string) error {
	if s.DatabaseReplicaMaxLag < minReplicaLag {
		return errors.New("--database-replica-max-lag must be at least 3s: the lag is measured every second")
	}
	if s.DatabaseReplicaURL != "" && databaseURL == "" {
		return errors.New("--database-replica-url needs --database-url: the private cluster has no standby")
	}
	return checkDatabaseURL("database-replica-url", s.DatabaseReplicaURL)
}

// openReplica begins to watch the replica, if one is set. The replica need not answer yet.
func (p *process) openReplica(options db.Options) error {
	if p.settings.DatabaseReplicaURL == "" {
		return nil
	}
	pool, err := db.Open(spreadHosts(p.settings.DatabaseReplicaURL), readpool.ReplicaOptions(options))
	if err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return pool.Close() })
	p.replica = &readpool.Replica{DB: pool, MaxLag: p.settings.DatabaseReplicaMaxLag, Metrics: p.metrics, Logger: p.log}
	p.background(func(ctx context.Context) { p.replica.Watch(ctx, p.db) })
	return nil
}

// replicaStatus is shown by /readyz on the operator listener.
func (p *process) replicaStatus() any {
	if p.replica == nil {
		return nil
	}
	return p.replica.Status()
}

// migrateCommand migrates the database before the server starts; serve does the same by itself.
type migrateCommand struct {
	databaseSettings
	logSettings

	Plan bool `env:"-" help:"Print the steps and the tables that they would lock, and do nothing."`
}

// clusterStopTimeout bounds the stop of a private cluster that ran for one command only.
const clusterStopTimeout = 10 * time.Second

// Run applies the missing migrations; a private cluster runs only during the command. It makes no cluster: serve makes a new one
// with the schema of its version, so a data folder without a database has nothing to migrate.
func (c *migrateCommand) Run(out io.Writer) error {
	log := c.logger(os.Stderr)
	return c.withDatabase(log, func(ctx context.Context, address string) error {
		address = c.directURL(address)
		if c.Plan {
			return planMigration(ctx, address, out)
		}
		_, end := showProgress(os.Stderr, terminal.Is(os.Stderr), "migrating", 0)
		err := migrateDatabase(ctx, address, log)
		end()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, "The database is at the schema of this version.")
		return err
	})
}

// planMigration prints the steps that migrateDatabase would take.
func planMigration(ctx context.Context, address string, out io.Writer) error {
	var steps []migrate.Step
	err := db.UsePlain(address, func(pool *sql.DB) (err error) {
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
	for delay := minRetryDelay; ; delay = min(2*delay, maxRetryDelay) {
		// A separate pool: the server's has a statement timeout, and a migration may take long.
		err := db.UsePlain(address, func(pool *sql.DB) error {
			if err := checkServerVersion(ctx, pool); err != nil {
				return err
			}
			return whileStarting(log, func() error { return migrate.Up(ctx, pool) })
		})
		refused := pq.As(err)
		final := refused != nil && (refused.Code.Class() == "28" || refused.Code.Class() == "3D") // no such login or database
		if err == nil || ctx.Err() != nil || final || fault.From(err).Code != fault.ServiceUnavailable {
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

// schemaCheckInterval is how long the schema counts as current without another check, since anyone may request /readyz.
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
