package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/lib/pq" // the driver

	"stoa/cmd/stoa/cluster"
)

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
