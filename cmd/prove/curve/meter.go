package curve

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/prove/testbed"
)

// The parts that a measurement's processor time is split into.
const (
	database  = "database"
	servers   = "servers"
	balancer  = "load balancer"
	generator = "load generator"
)

// parts in the order in which they are reported.
var parts = []string{database, servers, balancer, generator}

// Usage is the processor time during a measurement.
type Usage struct {
	// Busy is how many cores of the machine were busy, with any program. Cores is that of each part.
	Busy  float64
	Cores map[string]float64
	// Waits is the share of the time of the database's working processes that they spent waiting, by what they waited for.
	Waits map[string]float64
	// Pooled is the mean number of connections of the servers to the database; InUse of them had a statement or an open transaction.
	Pooled, InUse float64
	// Fsyncs is how often a second the log of the database was written to disk.
	Fsyncs float64
}

// sampleInterval is the time between two looks at what the database's processes wait for.
const sampleInterval = 100 * time.Millisecond

// activity selects the state of the servers' connections, and what they wait for (empty: nothing).
const activity = `SELECT state, coalesce(wait_event_type || '/' || wait_event, ''), count(*)
  FROM pg_stat_activity WHERE usename = 'stoa' AND state IS NOT NULL GROUP BY 1, 2`

// fsyncs counts how often the log was written to disk: from PostgreSQL 18 on in another view.
const (
	fsyncs       = "SELECT wal_sync FROM pg_stat_wal"
	fsyncsFrom18 = "SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal'"
)

// meter measures from start to stop.
type meter struct {
	bed     *testbed.Bed
	servers []*testbed.Server
	begun   time.Time
	before  readings
	waits   map[string]float64
	working float64
	inUse   float64
	all     float64
	looks   int
	failed  error
	end     context.CancelFunc
	ended   sync.WaitGroup
}

// readings are counters.
type readings struct {
	busy   time.Duration
	parts  map[string]time.Duration
	fsyncs float64
}

// start begins to measure what a bed with these servers uses.
func start(ctx context.Context, bed *testbed.Bed, running []*testbed.Server) (*meter, error) {
	m := &meter{bed: bed, servers: running, begun: time.Now(), waits: make(map[string]float64)}
	var err error
	if m.before, err = m.read(ctx); err != nil {
		return nil, err
	}
	ctx, m.end = context.WithCancel(ctx)
	m.ended.Go(func() {
		ticker := time.NewTicker(sampleInterval)
		defer ticker.Stop()
		for m.failed == nil {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := m.look(ctx); ctx.Err() == nil {
					m.failed = err
				}
			}
		}
	})
	return m, nil
}

// stop ends the measurement.
func (m *meter) stop(ctx context.Context) (Usage, error) {
	m.end()
	m.ended.Wait()
	after, err := m.read(ctx)
	if err = errors.Join(err, m.failed); err != nil {
		return Usage{}, err
	}
	elapsed := time.Since(m.begun).Seconds()
	u := Usage{
		Busy: (after.busy - m.before.busy).Seconds() / elapsed, Cores: make(map[string]float64), Waits: m.waits,
		Pooled: m.all / float64(max(m.looks, 1)), InUse: m.inUse / float64(max(m.looks, 1)),
		Fsyncs: (after.fsyncs - m.before.fsyncs) / elapsed,
	}
	for part, used := range after.parts {
		u.Cores[part] = (used - m.before.parts[part]).Seconds() / elapsed
	}
	delete(u.Waits, "")
	for wait := range u.Waits {
		u.Waits[wait] /= max(m.working, 1)
	}
	return u, nil
}

func (m *meter) read(ctx context.Context) (r readings, err error) {
	if r.busy, err = machine.Busy(); err != nil {
		return r, err
	}
	r.parts = make(map[string]time.Duration)
	pids := map[string][]int{database: {m.bed.DatabasePID()}, balancer: {m.bed.BalancerPID()}}
	for _, s := range m.servers {
		pids[servers] = append(pids[servers], s.PID())
	}
	for part, all := range pids {
		for _, pid := range all {
			used, err := machine.TreeCPU(pid)
			if err != nil {
				return r, err
			}
			r.parts[part] += used
		}
	}
	if r.parts[generator], err = machine.CPU(os.Getpid()); err != nil {
		return r, err
	}
	r.fsyncs, err = readFsyncs(ctx, m.bed.DB)
	return r, err
}

func readFsyncs(ctx context.Context, db *sql.DB) (count float64, err error) {
	var version int
	if err := db.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::integer").Scan(&version); err != nil {
		return 0, err
	}
	statement := fsyncs
	if version >= 180000 {
		statement = fsyncsFrom18
	}
	err = db.QueryRowContext(ctx, statement).Scan(&count)
	return count, err
}

// look adds what the connections do at this moment.
func (m *meter) look(ctx context.Context) error {
	rows, err := m.bed.DB.QueryContext(ctx, activity)
	if err != nil {
		return err
	}
	defer rows.Close()
	m.looks++
	for rows.Next() {
		var (
			state, wait string
			n           float64
		)
		if err := rows.Scan(&state, &wait, &n); err != nil {
			return err
		}
		m.all += n
		if state != "idle" {
			m.inUse += n
		}
		if state == "active" { // and not in a transaction whose next statement the server has not sent yet
			m.working += n
			m.waits[wait] += n
		}
	}
	return rows.Err()
}
