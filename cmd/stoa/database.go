package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/platform/fault"
	"stoa/migrate"
)

const (
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
	// oldestServer is the first version that Stoa runs on, as PostgreSQL numbers them.
	oldestServer = 15_00_00
)

// locate returns the URL of the database: the one that was set, or that of the private cluster, which it starts. The cluster
// is nil in the first case; otherwise the caller must stop it.
func (s databaseSettings) locate(ctx context.Context, log *slog.Logger) (string, *cluster.Cluster, error) {
	if s.DatabaseURL != "" {
		return s.DatabaseURL, nil, nil
	}
	private, err := cluster.Start(ctx, cluster.Config{DataDir: s.DataDir, Logger: log})
	if err != nil {
		return "", nil, err
	}
	return private.URL(), private, nil
}

// migrated waits until the database answers, and brings its schema to this version. It gives up only on what waiting does not
// cure: a refused login, a server that is too old, a migration that fails.
func migrated(ctx context.Context, address string, log *slog.Logger) error {
	// A pool of its own: the server's has a statement timeout, and a migration may take as long as it takes.
	pool, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer pool.Close()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := checkServer(ctx, pool)
		if err == nil {
			err = checkPooler(ctx, pool)
		}
		if err == nil {
			err = migrate.Up(ctx, pool)
		}
		if err == nil || ctx.Err() != nil || !passing(err) {
			return explain(err)
		}
		log.Warn("waiting for the database", "database", redacted(address), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passing tells a failure that goes away by itself from one that somebody must see to: a refused login (class 28), a database
// that does not exist (3D), and whatever a statement meets.
func passing(err error) bool {
	if refused, ok := errors.AsType[*pq.Error](err); ok && (refused.Code.Class() == "28" || refused.Code.Class() == "3D") {
		return false
	}
	return fault.From(err).Code == fault.ServiceUnavailable
}

func checkServer(ctx context.Context, pool *sql.DB) error {
	var number int
	if err := pool.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number); err != nil {
		return err
	}
	if number < oldestServer {
		return fmt.Errorf("the database is PostgreSQL %d; version 15 or newer is needed", number/10000)
	}
	return nil
}

// explain adds what lib/pq does not say.
func explain(err error) error {
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return fmt.Errorf("the database: %w; without TLS the URL must end in ?sslmode=disable", err)
	}
	if err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	return nil
}

// redacted is what a log may say of a connection URL.
func redacted(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" {
		return "(as set)" // the key=value form
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
}
