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

// settings of PostgreSQL keep what runs in the background out of the measurements; calm does it between them.
var settings = []string{"checkpoint_timeout = '1h'", "max_wal_size = '8GB'", "autovacuum = off"}

// database is a private PostgreSQL with fsync on, in a folder of its own, with a database for each program.
type database struct {
	folder  string
	log     *os.File
	private *cluster.Cluster
	sql     *sql.DB
	// postmaster is the process whose children are the backends.
	postmaster int
}

// newDatabase makes a PostgreSQL in a new folder below parent. The caller must call close.
func newDatabase(ctx context.Context, parent string) (d *database, err error) {
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
		return nil, err
	}
	d.private, err = cluster.Start(ctx, cluster.Config{
		DataDir: folder, Logger: slog.New(slog.NewTextHandler(d.log, nil)), TestRole: true,
	})
	if err != nil {
		return nil, err
	}
	if d.sql, err = sql.Open("postgres", d.private.URL()); err != nil {
		return nil, err
	}
	for _, setting := range settings {
		if _, err := d.sql.ExecContext(ctx, "ALTER SYSTEM SET "+setting); err != nil {
			return nil, err
		}
	}
	const reload = `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1) FROM pg_reload_conf()`
	return d, d.sql.QueryRowContext(ctx, reload).Scan(&d.postmaster)
}

// create makes a database and returns its URL.
func (d *database) create(ctx context.Context, name string) (string, error) {
	if _, err := d.sql.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	address, err := url.Parse(d.private.URL())
	if err != nil {
		return "", err
	}
	address.Path = "/" + name
	return address.String(), nil
}

// calm cleans up after a measurement, and writes all that is in memory.
func calm(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// closeTimeout is the time in which the database stops.
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
