// Package engine is `stoa doctor --database`: it tries on a database server each feature that Stoa rests on, and names the
// promise of Stoa that breaks without it. The features are the blocks of doctor.sql.
//
// It works in its own schema, which it drops again, and holds locks only on its own rows and random keys. It may run beside
// anything. If it is killed, a schema whose name begins with stoa_doctor_ stays.
package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// MinServerVersion is the first version of PostgreSQL that Stoa runs on, in the form of server_version_num.
const MinServerVersion = 15_00_00

const (
	// checkTimeout bounds one check, connectTimeout opening a session.
	checkTimeout   = 30 * time.Second
	connectTimeout = 10 * time.Second
	// schemaPrefix and random letters are the name of the schema.
	schemaPrefix = "stoa_doctor_"
)

// Config selects the server to examine.
type Config struct {
	// Address is a connection URL. Requests send their statements there.
	Address string
	// Direct is a connection URL for the checks that need a session; empty: Address.
	Direct string
	// Spread is a statement that is run after each CREATE TABLE, with %s for the table's name, on an engine that distributes tables
	// by a separate statement. Each table has a column id.
	Spread string
}

// Result is the outcome of one check.
type Result struct {
	Name string `json:"name"`
	// Tried describes the check; Promise is the promise that breaks without the feature.
	Tried   string `json:"tried"`
	Promise string `json:"promise"`
	OK      bool   `json:"ok"`
	// Failure says how the server behaved instead; empty if OK.
	Failure string `json:"failure,omitempty"`
}

// Report is the outcome of all checks, in their order.
type Report struct {
	// Server holds the name that the server gives itself.
	Server  string   `json:"server"`
	Results []Result `json:"checks"`
}

// Examine runs all checks. It returns an error only if it cannot connect, or if its schema stays behind.
func Examine(ctx context.Context, config Config) (report Report, err error) {
	if config.Direct == "" {
		config.Direct = config.Address
	}
	report.Server, err = serverName(ctx, config.Address)
	if err != nil {
		return report, fmt.Errorf("cannot connect: %w", err)
	}
	schema := schemaPrefix + strings.ToLower(rand.Text()[:12])
	for _, c := range checks { // the first one makes the schema
		result := Result{Name: c.name, Tried: c.tried, Promise: c.promise}
		failure := errNoSchema
		if len(report.Results) == 0 || report.Results[0].OK {
			failure = c.run(ctx, config, schema)
		}
		if result.OK = failure == nil; !result.OK {
			result.Failure = failure.Error()
		}
		report.Results = append(report.Results, result)
	}
	if report.Results[0].OK {
		drop := check{steps: []step{{session: "a", sql: "DROP SCHEMA $s CASCADE"}}}
		if err := drop.run(context.WithoutCancel(ctx), config, schema); err != nil {
			return report, fmt.Errorf("the schema %s could not be dropped: %w", schema, err)
		}
	}
	return report, nil
}

var errNoSchema = errors.New("not tried: there is no schema to try it in")

// Err returns an error that counts the failed checks; nil if all passed.
func (r Report) Err() error {
	failed := 0
	for _, result := range r.Results {
		if !result.OK {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d checks failed: Stoa does not keep its promises on this server", failed, len(r.Results))
}

// Print writes a line for each check. For a failed one it adds the server's behaviour and the broken promise.
func (r Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%s\n\n", r.Server)
	for _, result := range r.Results {
		if result.OK {
			fmt.Fprintf(out, "ok    %s\n", result.Name)
			continue
		}
		fmt.Fprintf(out, "fails %s\n      tried:   %s\n      got:     %s\n      breaks:  %s\n",
			result.Name, result.Tried, result.Failure, result.Promise)
	}
}

// PrintJSON writes the report as one JSON object.
func (r Report) PrintJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

func serverName(ctx context.Context, address string) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	pool, err := open(address)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	err = pool.QueryRowContext(ctx, "SELECT version()").Scan(&name)
	return name, err
}
