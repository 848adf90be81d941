package prepared_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/fstest"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"
)

func TestEntUsesKeptStatements(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, "CREATE TABLE agents (id uuid PRIMARY KEY, detail jsonb)")
	drv := entsql.OpenDB(dialect.Postgres, db)
	build := entsql.Dialect(dialect.Postgres)

	for range 3 {
		id := uuid.New()
		insert, args := build.Insert("agents").Columns("id", "detail").Values(id, []byte(`{"a":1}`)).Query()
		require.NoError(t, drv.Exec(t.Context(), insert, args, nil))
		query, args := build.Select("id").From(entsql.Table("agents")).Where(entsql.EQ("id", id)).Query()
		var rows entsql.Rows
		require.NoError(t, drv.Query(t.Context(), query, args, &rows))
		found, err := entsql.ScanString(rows)
		require.NoError(t, err)
		require.Equal(t, id.String(), found)
		require.NoError(t, rows.Close())
	}

	for query, n := range kept(t, db) {
		require.Equal(t, 3, n, query)
	}
	require.Len(t, kept(t, db), 2)
}

func TestGooseMigratesThere(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	provider, err := goose.NewProvider(goose.DialectPostgres, db, fstest.MapFS{
		"1_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (n int);\nINSERT INTO one VALUES (1);\n-- +goose Down\nDROP TABLE one;\n")},
		"2_two.sql": {Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nALTER TABLE one ADD s text;\n-- +goose Down\nALTER TABLE one DROP s;\n")},
	})
	require.NoError(t, err)

	results, err := provider.Up(t.Context())
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Equal(t, 1, one[int](t, db, "SELECT n FROM one WHERE s IS NULL AND n = $1", 1))

	_, err = provider.DownTo(t.Context(), 0)
	require.NoError(t, err)
	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, one[int](t, db, "SELECT n FROM one WHERE s IS NULL AND n = $1", 1))
}

type greetArgs struct {
	Name string `json:"name"`
}

func (greetArgs) Kind() string { return "greet" }

func TestRiverWorksThere(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 4)
	drv := riverdatabasesql.New(db)
	migrator, err := rivermigrate.New(drv, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	greeted := make(chan string, 1)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[greetArgs]) error {
		greeted <- job.Args.Name
		return nil
	}))
	client, err := river.NewClient(drv, &river.Config{
		FetchCooldown:     river.FetchCooldownMin,
		FetchPollInterval: river.FetchPollIntervalMin,
		Logger:            slog.New(slog.DiscardHandler),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}},
		TestOnly:          true,
		Workers:           workers,
	})
	require.NoError(t, err)
	done, unsubscribe := client.Subscribe(river.EventKindJobCompleted)
	defer unsubscribe()
	require.NoError(t, client.Start(t.Context()))

	for _, name := range []string{"ada", "grace"} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = client.InsertTx(t.Context(), tx, greetArgs{Name: name}, nil)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
		require.Equal(t, name, <-greeted)
		require.Equal(t, "greet", (<-done).Job.Kind)
	}

	require.NoError(t, client.StopAndCancel(t.Context()))
}
