// Package baseline implements the server's hot operations by hand, for the server to be compared with. Each is one prepared
// statement over database/sql and lib/pq, the server's driver; writes are functions in the schema bench (sql/).
//
// A DB runs the statements and reads their rows into structs. NewServer puts a minimal HTTP server on top. Both work on the
// server's own tables and rows with the server's checks. They leave out rate limits, request ids, deadlines, metrics and messages
// of faults.
package baseline

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/readpool"
)

// connections is the size of the server's main pool.
const connections = 24

//go:embed sql/*.sql
var schema embed.FS

// Install creates the schema bench, in place of one that is there.
func Install(ctx context.Context, db *sql.DB) error {
	files, err := schema.ReadDir("sql")
	if err != nil {
		return err
	}
	for _, file := range files {
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

// DB holds the prepared statements. It is safe for concurrent use.
type DB struct {
	main, searches *sql.DB
	statements     map[string]*sql.Stmt
}

// Open connects and prepares every statement. As in the server, searches have their own small pool. Statements are planned once
// per connection, searches for each value.
func Open(ctx context.Context, address string) (*DB, error) {
	d := &DB{statements: make(map[string]*sql.Stmt)}
	var err error
	if d.main, err = openPool(address, "force_generic_plan", connections); err != nil {
		return nil, err
	}
	if d.searches, err = openPool(address, "force_custom_plan", readpool.Connections); err != nil {
		return nil, errors.Join(err, d.main.Close())
	}
	for text, pool := range map[string]*sql.DB{
		meText: d.main, historyText: d.main, feedText: d.main, scanText: d.main, searchText: d.searches,
		sendText: d.main, createText: d.main, actText: d.main, registerText: d.main,
	} {
		statement, err := pool.PrepareContext(ctx, text) //nolint:sqlclosecheck // it is closed with its pool
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.statements[text] = statement
	}
	return d, nil
}

func openPool(address, planCacheMode string, size int) (*sql.DB, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := parsed.Query()
	query.Set("jit", "off")
	query.Set("timezone", "UTC")
	query.Set("plan_cache_mode", planCacheMode)
	parsed.RawQuery = query.Encode()
	pool, err := sql.Open("postgres", parsed.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return pool, nil
}

// Close closes every connection.
func (d *DB) Close() error { return errors.Join(d.main.Close(), d.searches.Close()) }

// FaultError is the code of a fault, such as not_found.
type FaultError string

// Error implements error.
func (f FaultError) Error() string { return string(f) }

// faultError turns the fault that a function of the schema returned into an error. The fault repeated is none.
func faultError(code sql.NullString) error {
	if !code.Valid || code.String == "repeated" {
		return nil
	}
	return FaultError(code.String)
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

func newIDs(n int) pq.StringArray {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID().String()
	}
	return ids
}
