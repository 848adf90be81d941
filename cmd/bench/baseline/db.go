package baseline

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"

	_ "github.com/lib/pq" // the driver
)

// Connections is the size of the pool, the same as the server's.
const Connections = 24

//go:embed sql/*.sql
var schema embed.FS

// Install puts the functions into the database, in place of those that were there.
func Install(ctx context.Context, db *sql.DB) error {
	files, err := schema.ReadDir("sql")
	if err != nil {
		return err
	}
	for _, file := range files { // in the order of their names
		text, err := schema.ReadFile("sql/" + file.Name())
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return nil
}

// DB is a pool of connections with every statement prepared. It is safe for concurrent use.
type DB struct {
	pools      []*sql.DB
	statements map[string]*sql.Stmt
}

// Open prepares the statements of the table. All are planned once a connection, but what must be planned for its values has a
// pool of its own.
func Open(ctx context.Context, address string) (*DB, error) {
	d := &DB{statements: make(map[string]*sql.Stmt)}
	kept, err := d.pool(address, "force_generic_plan")
	if err != nil {
		return nil, err
	}
	planned, err := d.pool(address, "force_custom_plan")
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for text, pool := range map[string]*sql.DB{
		meText: kept, historyText: kept, feedText: kept, scanText: kept, searchText: planned,
		sendText: kept, offerText: kept, actText: kept, registerText: kept,
	} {
		statement, err := pool.PrepareContext(ctx, text) //nolint:sqlclosecheck // it goes with its pool
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.statements[text] = statement
	}
	return d, nil
}

func (d *DB) pool(address, plans string) (*sql.DB, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := parsed.Query()
	query.Set("jit", "off")
	query.Set("timezone", "UTC")
	query.Set("plan_cache_mode", plans)
	parsed.RawQuery = query.Encode()
	pool, err := sql.Open("postgres", parsed.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(Connections)
	pool.SetMaxIdleConns(Connections)
	d.pools = append(d.pools, pool)
	return pool, nil
}

// Close closes every connection.
func (d *DB) Close() error {
	var errs []error
	for _, pool := range d.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// RefusedError is an operation that a rule refused; its text is the fault's code.
type RefusedError string

// Error is the code.
func (r RefusedError) Error() string { return string(r) }

// refused turns a verdict into an error.
func refused(verdict sql.NullString) error {
	if !verdict.Valid || verdict.String == "repeated" {
		return nil
	}
	return RefusedError(verdict.String)
}
