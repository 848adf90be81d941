package main

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/bench/load"
	"stoa/cmd/child"
)

// variant is one side of a comparison.
type variant struct {
	name string
	// pid is the process whose processor time counts as the server's; 0 for none.
	pid int
	db  *sql.DB
	// measure runs a scenario and returns the number of operations and their time; 0 if the variant does not have the scenario.
	measure func(ctx context.Context, s load.Scenario, connections int, length time.Duration) (ops int, took time.Duration, err error)
}

// compare measures all variants in turns, in random order in each round, after a round of warming up, and writes their results.
func (c *command) compare(ctx context.Context, d *database, s load.Scenario, all []variant, out io.Writer) error {
	for _, v := range all {
		if err := calm(ctx, v.db); err != nil {
			return err
		}
	}
	lines := make([]string, len(all))
	for round := range c.Rounds + 1 {
		for _, i := range rand.Perm(len(all)) {
			line, err := c.once(ctx, d, s, all[i])
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			if round > 0 {
				lines[i] += line
			}
		}
	}
	for i, v := range all {
		fmt.Fprintf(out, "by: %s\n%s", v.name, lines[i])
	}
	return nil
}

// once measures a variant once and returns the line of its result.
func (c *command) once(ctx context.Context, d *database, s load.Scenario, v variant) (string, error) {
	before, err := d.usage(v)
	if err != nil {
		return "", err
	}
	ops, took, err := v.measure(ctx, s, c.Connections, c.Length)
	if err != nil || ops == 0 {
		return "", err
	}
	after, err := d.usage(v)
	if err != nil {
		return "", err
	}
	each := func(total time.Duration) float64 { return float64(total) / float64(ops) }
	line := fmt.Sprintf("Benchmark%s-%d %d %.0f ns/op %.0f postgres-ns/op", strings.ToUpper(s.Name[:1])+s.Name[1:], c.Connections, ops,
		each(took), each(after.postgres-before.postgres))
	if v.pid != 0 {
		line += fmt.Sprintf(" %.0f server-ns/op", each(after.server-before.server))
	}
	return line + "\n", nil
}

type usage struct{ server, postgres time.Duration }

func (d *database) usage(v variant) (u usage, err error) {
	if v.pid != 0 {
		if u.server, err = cpuTime(v.pid); err != nil {
			return u, err
		}
	}
	u.postgres, err = postgresTime(d.postmaster)
	return u, err
}

// cpuTime returns the processor time that the running threads of processes have used. Go and PostgreSQL seldom end threads.
func cpuTime(pids ...int) (total time.Duration, err error) {
	for _, pid := range pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			return 0, err
		}
		for _, thread := range threads {
			raw, err := os.ReadFile(thread)
			if err != nil {
				continue // it has ended
			}
			nanoseconds, _, _ := strings.Cut(string(raw), " ")
			used, err := strconv.ParseInt(nanoseconds, 10, 64)
			if err != nil {
				return 0, err
			}
			total += time.Duration(used)
		}
	}
	return total, nil
}

// postgresTime returns the processor time of the postmaster's children, including those that have ended.
func postgresTime(postmaster int) (time.Duration, error) {
	const tick = 10 * time.Millisecond
	const endedUser, endedSystem = 13, 14 // fields after the name, which stands in parentheses
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", postmaster))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	var ended int
	for _, field := range []int{endedUser, endedSystem} {
		ticks, err := strconv.Atoi(fields[field])
		if err != nil {
			return 0, err
		}
		ended += ticks
	}
	total, err := cpuTime(child.ChildrenOf(postmaster)...)
	return total + time.Duration(ended)*tick, err
}

// scripts are the operations in SQL, for pgbench, on the tables that setup.sql makes.
//
//go:embed plain
var scripts embed.FS

// plain copies the tables of a server into plain tables, and returns the variant that runs the scripts on them. A scenario
// without a script is not measured.
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

// The lines of pgbench with the number of transactions, and with their number per second.
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
