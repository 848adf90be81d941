package jobs

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// driver is River's over database/sql, which cannot listen, with the listener of its driver for pgx. So jobs are rows of the same
// transactions as everything else and still begin at once.
type driver struct {
	*riverdatabasesql.Driver
	listening *riverpgxv5.Driver
}

// SupportsListener makes River listen instead of only polling.
func (d driver) SupportsListener() bool { return true }

// GetListener is River's to call.
func (d driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.listening.GetListener(params)
}

// newDriver also returns the pool that the listener takes its one connection from; nothing is connected yet.
func newDriver(database *sql.DB, url string) (driver, *pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return driver{}, nil, fmt.Errorf("jobs: %w", err)
	}
	config.MinConns, config.MaxConns = 0, 1
	config.ConnConfig.RuntimeParams["application_name"] = "stoa jobs"
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return driver{}, nil, fmt.Errorf("jobs: %w", err)
	}
	return driver{riverdatabasesql.New(database), riverpgxv5.New(pool)}, pool, nil
}
