// Package baseline implements the server's hot operations by hand, for the server to be compared with. Each is one prepared
// statement over database/sql and lib/pq, the server's driver; writes are functions (sql/).
//
// A DB runs the statements and reads their rows into structs. NewServer puts a minimal HTTP server on top. Both work on the
// server's own tables and rows with the server's checks, or on plain copies of them. They leave out rate limits, request ids, deadlines, metrics and messages
// of faults.
package baseline

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/readpool"
)

// connections is the size of the server's main pool.
const connections = 24

// The schemas of the functions. Those in OwnSchema write the server's tables, those in PlainSchema write plain tables beside them.
const (
	OwnSchema   = "bench"
	PlainSchema = "plain"
)

//go:embed sql/*.sql
var functions embed.FS

//go:embed plain.sql
var plainTables string

// Install creates the functions on the server's tables, in place of those that are there.
func Install(ctx context.Context, db *sql.DB) error {
	return install(ctx, db, OwnSchema, "DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench")
}

// InstallPlain creates tables that have only what correctness needs, in place of those that are there, copies the server's rows into
// them, and creates the functions on them.
func InstallPlain(ctx context.Context, db *sql.DB) error {
	return install(ctx, db, PlainSchema, plainTables)
}

func install(ctx context.Context, db *sql.DB, schema, tables string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after the commit
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return fmt.Errorf("the tables of %s: %w", schema, err)
	}
	files, err := functions.ReadDir("sql")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := functions.ReadFile("sql/" + file.Name())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, inSchema(string(text), schema)); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return tx.Commit()
}

// inSchema has a text use the functions of a schema.
func inSchema(text, schema string) string { return strings.ReplaceAll(text, OwnSchema+".", schema+".") }

// DB holds the prepared statements. It is safe for concurrent use.
type DB struct {
	main, searches *sql.DB
	statements     map[string]*sql.Stmt
}

// Open connects and prepares every statement, on the tables and functions of a schema; those that only read, on the server's tables alone. As
// in the server, searches have their own small pool. Statements are planned once per connection, searches for each value.
func Open(ctx context.Context, address, schema string) (*DB, error) {
	d := &DB{statements: make(map[string]*sql.Stmt)}
	var err error
	if d.main, err = openPool(address, schema, "force_generic_plan", connections); err != nil {
		return nil, err
	}
	if d.searches, err = openPool(address, schema, "force_custom_plan", readpool.Connections); err != nil {
		return nil, errors.Join(err, d.main.Close())
	}
	pools := map[string]*sql.DB{sendText: d.main, createText: d.main, actText: d.main, registerText: d.main, postText: d.main}
	if schema == OwnSchema { // what only reads needs the server's other tables, too
		maps.Copy(pools, map[string]*sql.DB{meText: d.main, historyText: d.main, feedText: d.main, scanText: d.main, searchText: d.searches})
	}
	for text, pool := range pools {
		statement, err := pool.PrepareContext(ctx, inSchema(text, schema)) //nolint:sqlclosecheck // it is closed with its pool
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.statements[text] = statement
	}
	return d, nil
}

func openPool(address, schema, planCacheMode string, size int) (*sql.DB, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := parsed.Query()
	query.Set("jit", "off")
	query.Set("timezone", "UTC")
	query.Set("plan_cache_mode", planCacheMode)
	query.Set("search_path", schema+",public")
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
