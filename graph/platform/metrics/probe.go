package metrics

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// probePeriod is how long a reading is valid. The database is not read more often, however often the metrics are scraped.
const probePeriod = 5 * time.Second

// probeTimeout bounds one reading.
var probeTimeout = slack.Of(2 * time.Second)

// Reader reads values from the database or another source that may fail.
type Reader func(ctx context.Context) ([]Value, error)

// Read reads the metrics that have the names of a statement's columns. The statement has one row.
func Read(ctx context.Context, q db.Querier, s *db.Statement, args ...any) (values []Value, err error) {
	err = db.Each(ctx, q, func(row *sql.Rows) error {
		names, err := row.Columns()
		into := make([]any, len(names))
		values = make([]Value, len(names))
		for i, name := range names {
			values[i].Name, into[i] = name, &values[i].Value
		}
		return errors.Join(err, row.Scan(into...))
	}, s, args...)
	return values, err
}

// probe reads values on demand if the last ones are old. A scrape never waits longer than the timeout. While a reading hangs, no
// other one begins, because a driver may ignore its context. The values of a failed reading are left out, because old values
// would look like new ones.
type probe struct {
	readers []Reader
	running singleflight.Group
	// latest is used only by the running reading.
	latest reading
}

// reading is the result of a reading.
type reading struct {
	began  time.Time
	took   time.Duration
	values []Value
	failed bool
}

// Probe adds the values of readers.
func (m *Metrics) Probe(readers ...Reader) {
	p := &probe{readers: readers}
	m.Show(func() []Value {
		seen := p.look()
		own := []Value{
			{Name: "stoa_database_probe_failed", Value: Flag(seen.failed)}, {Name: "stoa_database_probe_seconds", Value: seen.took.Seconds()},
		}
		return append(own, seen.values...)
	})
}

// look returns a reading that is recent enough, or a failed one.
func (p *probe) look() reading {
	select {
	case done := <-p.running.DoChan("", p.read):
		seen, _ := done.Val.(reading)
		return seen
	case <-time.After(probeTimeout):
		return reading{failed: true, took: probeTimeout}
	}
}

// read returns the latest reading if it is recent enough, or takes a new one.
func (p *probe) read() (any, error) {
	if time.Since(p.latest.began) < probePeriod {
		return p.latest, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	found := reading{began: time.Now()}
	var failed error
	for _, read := range p.readers {
		values, err := read(ctx)
		failed = errors.Join(failed, err)
		found.values = append(found.values, values...)
	}
	found.took, found.failed = time.Since(found.began), failed != nil
	if found.failed {
		found.values = nil
	}
	p.latest = found
	return found, nil
}

// Check returns an error that explains the problem, or nil.
type Check func(context.Context) error

// Checks holds checks by name, as /readyz shows them. A check that takes longer than 2 s has failed.
type Checks map[string]Check

var errCheckTimeout = errors.New("no answer in time")

// Run runs the checks in parallel and returns their results. It does not wait for a check that ignores its context: a driver may
// not return while the database neither answers nor closes the connection.
func (c Checks) Run(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	type result struct {
		name string
		err  error
	}
	done := make(chan result, len(c))
	results := make(map[string]error, len(c))
	for name, check := range c {
		results[name] = errCheckTimeout
		go func() { done <- result{name, check(ctx)} }()
	}
	for range c {
		select {
		case r := <-done:
			results[r.name] = r.err
		case <-ctx.Done():
			return results
		}
	}
	return results
}

// Checks adds the results of checks.
func (m *Metrics) Checks(byName Checks) {
	for name, check := range byName {
		p := &probe{readers: []Reader{func(ctx context.Context) ([]Value, error) { return nil, check(ctx) }}}
		m.Show(func() []Value { return []Value{{"stoa_check_passing", Flag(!p.look().failed), []string{name}}} })
	}
}
