package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/bench/load"
)

// scripts are the operations in SQL, for pgbench, on the tables that setup.sql makes.
//
//go:embed plain
var scripts embed.FS

// plain copies the tables of a server into plain ones, and returns the variant that runs the scripts on them. A scenario without a
// script is not measured.
func (d *database) plain(ctx context.Context, s *server) (variant, error) {
	folder := filepath.Join(d.folder, "plain")
	if err := os.CopyFS(d.folder, scripts); err != nil {
		return variant{}, err
	}
	setup, err := os.ReadFile(filepath.Join(folder, "setup.sql"))
	if err != nil {
		return variant{}, err
	}
	if _, err := s.db.ExecContext(ctx, string(setup)); err != nil {
		return variant{}, fmt.Errorf("setup.sql: %w", err)
	}
	ids := make([]string, len(s.agents))
	tokens := make([]string, len(s.agents))
	for i, a := range s.agents {
		ids[i], tokens[i] = a.ID.String(), a.Token
	}
	const insert = `INSERT INTO plain.callers SELECT n - 1, id, sha256(token::bytea)
		FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS caller (id, token, n)`
	if _, err := s.db.ExecContext(ctx, insert, pq.Array(ids), pq.Array(tokens)); err != nil {
		return variant{}, err
	}
	return variant{name: "plain", db: s.db, measure: func(
		ctx context.Context, scenario load.Scenario, connections int, length time.Duration,
	) (int, time.Duration, error) {
		script := filepath.Join(folder, scenario.Name+".sql")
		if _, err := os.Stat(script); err != nil {
			return 0, 0, nil //nolint:nilerr // the scenario has no plain counterpart
		}
		return pgbench(ctx, s.url, script, connections, length)
	}}, nil
}

// The lines of pgbench with the number of transactions, and how many there were a second.
var (
	processed = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	perSecond = regexp.MustCompile(`tps = ([\d.]+)`)
)

// pgbench runs a script for length, in whole seconds.
func pgbench(ctx context.Context, url, script string, connections int, length time.Duration) (ops int, took time.Duration, err error) {
	n := strconv.Itoa(connections)
	seconds := strconv.Itoa(max(1, int(length.Round(time.Second).Seconds())))
	output, err := exec.CommandContext(ctx, "pgbench", "--no-vacuum", "--protocol=prepared", "--client="+n, "--jobs=2",
		"--time="+seconds, "--file="+script, url).CombinedOutput()
	count, rate := processed.FindSubmatch(output), perSecond.FindSubmatch(output)
	if err != nil || count == nil || rate == nil {
		return 0, 0, fmt.Errorf("pgbench of %s: %w: %s", filepath.Base(script), err, output)
	}
	ops, err = strconv.Atoi(string(count[1]))
	if err != nil {
		return 0, 0, err
	}
	each, err := strconv.ParseFloat(string(rate[1]), 64)
	return ops, time.Duration(float64(ops) / each * float64(time.Second)), err
}
