package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/doctor/engine"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/readpool"
)

// requireDatabase returns an error unless a database is set or the data folder has one. Only serve makes one: any other command
// would make an empty one, in a folder that was not meant.
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
// caller must stop it. ended is called if its database ends before.
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

// usePool calls act with a pool that is closed afterwards.
func usePool(address string, act func(*sql.DB) error) error {
	pool, err := db.OpenPlain(address)
	if err != nil {
		return err
	}
	return errors.Join(act(pool), pool.Close())
}

// directURL returns the URL for work that needs a session: listening, session locks, migrations, backups. main is the URL of the
// database.
func (s databaseSettings) directURL(main string) string {
	if s.DatabaseDirectURL != "" {
		return spreadHosts(s.DatabaseDirectURL)
	}
	return main
}

// spreadHosts rewrites a URL with several hosts, such as postgres://stoa@a:5432,b/stoa, to one that names them in its parameters:
// libpq reads both, lib/pq and pgx only that one. A connection then goes to the first host that answers and meets
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

// isTransient reports whether a failure may go away by itself. A refused login (class 28), a database that does not exist (3D)
// and the errors of statements do not.
func isTransient(err error) bool {
	if refused, ok := errors.AsType[*pq.Error](err); ok && (refused.Code.Class() == "28" || refused.Code.Class() == "3D") {
		return false
	}
	return fault.From(err).Code == fault.ServiceUnavailable
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

// minReplicaLag is the least bound: with measurements every second an answer of a replica that follows may count as two seconds old.
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

// openReplica begins to watch the replica, if one is set. It need not be there.
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
