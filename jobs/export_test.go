package jobs

import (
	"context"
	"slices"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

// StartPolling is Start with another interval between polls; it runs only the given kinds of periodic jobs.
func StartPolling(ctx context.Context, c Config, poll time.Duration, kinds ...string) (*Jobs, error) {
	others := func(r row) bool { return !slices.Contains(kinds, r.kind) }
	return start(ctx, c, poll, slices.DeleteFunc(slices.Clone(table), others))
}

// Ahead returns a clock by which the database is that far ahead of the host.
func Ahead(ahead time.Duration) *Clock {
	c := new(Clock)
	c.compared.Store(&comparison{time.Now(), ahead})
	return c
}

// GrownTables returns the tables that are analyzed next.
func GrownTables(ctx context.Context, database *db.DB) ([]string, error) {
	return db.Column[string](ctx, database.SQL, named("grown_tables"))
}

// Kinds returns the kinds of the table.
func Kinds() []string {
	kinds := make([]string, len(table))
	for i, row := range table {
		kinds[i] = row.kind
	}
	return kinds
}

// Actions returns the names of the dashboard's actions.
func Actions() (names []string) {
	for _, action := range dashboardActions {
		names = append(names, action.name)
	}
	return names
}

// StartTick runs a tick once an hour until stop is called.
func StartTick(do func(context.Context, Config) error) (stop func(context.Context)) {
	c := Config{Metrics: new(metrics.Metrics)}
	return c.startTicks([]row{tick(time.Hour, "tick", time.Hour, do)})
}
