package graphtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/readpool"
)

// World is one server's worth of domains over its own database.
type World struct {
	*graph.Graph
	DB *db.DB
	// URL of the database, for tests that start more servers on it.
	URL   string
	clock *clock
	t     TB
	// handles counts the used handles.
	handles *atomic.Int64
	jobs    *jobs
}

// Option changes the configuration of a world.
type Option func(*graph.Config)

// WithQuotas sets limits. Without it a world has none, so only tests of a limit reach one.
func WithQuotas(quotas limits.Quotas) Option {
	return func(c *graph.Config) { c.Quotas = quotas }
}

// New makes a world for one test.
func New(t testing.TB, options ...Option) *World {
	t.Helper()
	return newWorld(t, options...)
}

func newWorld(t TB, options ...Option) *World {
	t.Helper()
	clock := new(clock)
	address := takeDatabase(t)
	asked := new(jobs)
	config := graph.Config{TokenTTL: 720 * time.Hour, SecretKey: SecretKey}
	config.DB = open(t, address, clock, db.Options{Connections: 12})
	config.Reads = open(t, address, clock, readpool.Options(db.Options{}))
	config.Long = open(t, address, clock, readpool.LongOptions(db.Options{}))
	for _, option := range options {
		option(&config)
	}
	recorded := config.Enqueue == nil
	if recorded {
		config.Enqueue = asked.add
	}
	if config.Quotas.TextBytes+config.Quotas.TextBytesPerDay > 0 {
		require.NoError(t, config.Quotas.StoreTexts(context.Background(), config.DB.SQL))
	}
	w := &World{Graph: graph.New(config), DB: config.DB, URL: address, clock: clock, t: t, handles: new(atomic.Int64), jobs: asked}
	if recorded {
		w.Email.InsertJob = w.deliverMail
	}
	return w
}

// Shift moves the database clock by d from the present.
func (w *World) Shift(d time.Duration) { w.clock.shift.Add(int64(d)) }

// ShiftMonths moves the database clock by calendar months as PostgreSQL counts them, and by more.
func (w *World) ShiftMonths(months int, more time.Duration) {
	w.t.Helper()
	now := w.Now()
	w.Shift(w.InMonths(now, months).Sub(now) + more)
}

// InMonths returns the moment some calendar months after another. If a month has no such day, its last day counts.
func (w *World) InMonths(moment time.Time, months int) (later time.Time) {
	w.t.Helper()
	const sum = "SELECT $1::timestamptz + make_interval(months => $2)"
	require.NoError(w.t, w.DB.SQL.QueryRowContext(context.Background(), sum, moment, months).Scan(&later))
	return later.UTC()
}

// Now returns the time of the database's clock.
func (w *World) Now() time.Time {
	w.t.Helper()
	var now time.Time
	require.NoError(w.t, w.DB.SQL.QueryRowContext(context.Background(), "SELECT stoa_now()").Scan(&now))
	return now.UTC()
}

// Exec runs SQL, for a test that needs a state that no operation reaches. It may run longer than the server's statement timeout.
func (w *World) Exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.DB.SQL.ExecContext(db.Patient(context.Background()), query, args...)
	require.NoError(w.t, err)
}

// Count returns the single integer of a query.
func (w *World) Count(query string, args ...any) int64 {
	w.t.Helper()
	var n int64
	require.NoError(w.t, w.DB.SQL.QueryRowContext(context.Background(), query, args...).Scan(&n))
	return n
}

// Buffers returns the number of buffers that a query touches once the caches of its connection are warm.
func (w *World) Buffers(query string, args ...any) (touched int) {
	w.t.Helper()
	conn, err := w.DB.SQL.Pool.Conn(context.Background())
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, conn.Close()) }()
	for range 2 {
		var raw []byte
		require.NoError(w.t, conn.QueryRowContext(context.Background(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+query, args...).Scan(&raw))
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			} `json:"Plan"`
		}
		require.NoError(w.t, json.Unmarshal(raw, &plans))
		touched = plans[0].Plan.Hit + plans[0].Plan.Read
	}
	return touched
}

// handle returns a handle that is free in this world.
func (w *World) handle() string { return fmt.Sprintf("agent_%d", w.handles.Add(1)) }

// TB holds the methods of a test that a world needs. A testing.TB has them, and so has the whole test program.
type TB interface {
	Helper()
	Cleanup(done func())
	Failed() bool
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	FailNow()
	Logf(format string, args ...any)
	TempDir() string
}

// Shared is a world that many tests of a package use. It is for tests that do not move the clock, set limits or read rows of
// other tests' agents. TestMain closes it. The zero value is ready; it is safe for concurrent use.
type Shared struct {
	// Setup prepares the world before its first use; nil for nothing.
	Setup func(*World)

	once    sync.Once
	world   *World
	program program
}

// World returns the world, whose helpers fail t.
func (s *Shared) World(t testing.TB) *World {
	t.Helper()
	s.once.Do(func() {
		s.world = newWorld(&s.program)
		if s.Setup != nil {
			s.Setup(s.world)
		}
	})
	if s.world == nil {
		t.Fatal("the shared world could not be made")
	}
	mine := *s.world
	mine.t = t
	return &mine
}

// Close drops the world after the last test.
func (s *Shared) Close() {
	for _, clean := range slices.Backward(s.program.cleanups) {
		clean()
	}
}

// program is the test program as a TB: cleanups run at its end, and a failure ends it.
type program struct{ cleanups []func() }

func (p *program) Helper()                           {}
func (p *program) Cleanup(clean func())              { p.cleanups = append(p.cleanups, clean) }
func (p *program) Failed() bool                      { return false }
func (p *program) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (p *program) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *program) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *program) FailNow()                          { panic("a shared world failed") }
func (p *program) Logf(string, ...any)               {}

func (p *program) TempDir() string {
	folder, err := os.MkdirTemp("", "stoa-test")
	if err != nil {
		panic(err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(folder) }) // the system clears its temporary files, too
	return folder
}
