package graphtest

import (
	"context"
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

// World holds the domains of one server over its own database.
type World struct {
	*graph.Graph
	DB *db.DB
	// URL of the database, for tests that start more servers on it.
	URL   string
	name  string
	clock *clock
	t     testing.TB
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
	clock := new(clock)
	name := takeDatabase(t)
	address := addressOf(t, name)
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
	w := &World{Graph: graph.New(config), DB: config.DB, URL: address, name: name, clock: clock, t: t, handles: new(atomic.Int64), jobs: asked}
	if recorded {
		w.Email.InsertJob = w.deliverMail
	}
	return w
}

// Shift moves the database clock by d from the present.
func (w *World) Shift(d time.Duration) { w.clock.shift.Add(int64(d)) }

// ShiftMonths moves the database clock by calendar months as PostgreSQL counts them, and then by more.
func (w *World) ShiftMonths(months int, more time.Duration) {
	now := w.Now()
	w.Shift(w.InMonths(now, months).Sub(now) + more)
}

// InMonths returns the moment some calendar months after another. If a month has no such day, its last day counts.
func (w *World) InMonths(moment time.Time, months int) time.Time {
	return Column[time.Time](w, "SELECT $1::timestamptz + make_interval(months => $2)", moment, months)[0].UTC()
}

// Now returns the time of the database's clock.
func (w *World) Now() time.Time { return Column[time.Time](w, "SELECT stoa_now()")[0].UTC() }

// Exec runs SQL, for a test that needs a state that no operation reaches. It may run longer than the server's statement timeout.
func (w *World) Exec(query string, args ...any) {
	OK(w.t)(w.DB.SQL.ExecContext(db.Patient(context.Background()), query, args...))
}

// Count returns the single integer of a query.
func (w *World) Count(query string, args ...any) int64 { return Column[int64](w, query, args...)[0] }

// Column returns the values of a query that has one column.
func Column[T any](w *World, query string, args ...any) []T {
	return Got(db.Column[T](context.Background(), w.DB.SQL, &db.Statement{Text: query}, args...))(w.t)
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
		s.world = New(&s.program)
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

// program lets the test program act as a test: cleanups run at its end, and a failure ends it.
type program struct {
	testing.TB
	cleanups []func()
}

func (p *program) Helper()                           {}
func (p *program) Name() string                      { return "a shared world" }
func (p *program) Cleanup(clean func())              { p.cleanups = append(p.cleanups, clean) }
func (p *program) Failed() bool                      { return false }
func (p *program) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *program) Logf(string, ...any)               {}

func (p *program) TempDir() string {
	folder, err := os.MkdirTemp("", "stoa-test")
	if err != nil {
		panic(err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(folder) }) // the system clears its temporary files, too
	return folder
}
