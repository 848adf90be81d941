package graph_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/tasks"
)

// Every statement in the domains' .sql files fits the schema, and its parameters have the types of its heading.
func TestStatementsFitTheSchema(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	conn := graphtest.Got(w.DB.SQL.Pool.Conn(t.Context()))(t)
	defer conn.Close()
	for _, s := range db.Loaded() {
		graphtest.OK(t, "%s: %s", s.Name, s.Text)(conn.ExecContext(t.Context(), "PREPARE "+s.Name+" AS "+s.Text))
		var types pq.StringArray
		require.NoError(t, conn.QueryRowContext(t.Context(),
			"SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1", s.Name).Scan(&types))
		require.Equal(t, s.Types, append([]string(nil), types...), "the heading of %s", s.Name)
		graphtest.OK(t)(conn.ExecContext(t.Context(), "DEALLOCATE "+s.Name))
	}
}

var (
	statementNames = regexp.MustCompile(`(?m)^-- name: (\w+)`)
	statementUses  = regexp.MustCompile(`\b[nN]amed\("(\w+)"\)`)
)

// Every statement that a package names is in its .sql files. Otherwise a wrong name would fail only at its first call.
func TestStatementsAreThere(t *testing.T) {
	t.Parallel()
	files := graphtest.Got(filepath.Glob("*/*.sql"))(t)
	for _, folder := range append(files, "../jobs/jobs.sql") {
		folder = filepath.Dir(folder)
		there := matches(t, folder+"/*.sql", statementNames)
		for _, name := range matches(t, folder+"/*.go", statementUses) {
			require.Contains(t, there, name, "%s names a statement that is not in its files", folder)
		}
	}
}

// matches returns the first groups of all matches in some files, without test files.
func matches(t *testing.T, pattern string, of *regexp.Regexp) (all []string) {
	t.Helper()
	paths := graphtest.Got(filepath.Glob(pattern))(t)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		raw := graphtest.Got(os.ReadFile(path))(t)
		for _, match := range of.FindAllSubmatch(raw, -1) {
			all = append(all, string(match[1]))
		}
	}
	return all
}

// A send is one statement, an act on an order two if it succeeds at once. Announcing a change of a task is one statement,
// whatever the number of recipients.
func TestHowManyStatementsAnOperationRuns(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database := graphtest.Got(db.Open(address, db.Options{Connections: 4}))(t)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	w := graphtest.New(t, func(c *graph.Config) { c.DB, c.Reads, c.TokenTTL = database, database, time.Hour })
	customer, contractor := w.Friends()
	statements := func(call func(ctx context.Context) error) int {
		recorder := tracetest.NewSpanRecorder()
		ctx, span := trace.NewTracerProvider(trace.WithSpanProcessor(recorder)).Tracer("").Start(customer.Ctx, "call")
		require.NoError(t, call(ctx))
		span.End()
		return len(recorder.Ended()) - 1
	}
	require.Equal(t, 1, statements(func(ctx context.Context) error {
		return graphtest.Err(w.Messages.SendMessage(ctx, graphtest.Envelope(customer, contractor)))
	}))
	operation, deadline, total, amount, version := uuid.NewString(), "2999-01-01T00:00:00Z", int64(1100), int64(1000), int64(1)
	id, title := contractor.ID.String(), "A sonnet"
	offered := graphtest.Got(w.Orders.CreateOrder(customer.Ctx, orders.CreateInput{
		OperationID: &operation, ContractorID: &id, Title: &title, Description: &title, Deadline: &deadline, AmountMinor: &amount,
		ConfirmedTotalMinor: &total,
	}))(t)
	require.Equal(t, 2, statements(func(ctx context.Context) error {
		operation := uuid.NewString()
		return graphtest.Err(w.Orders.OrderAct(ctx, orders.ActInput{
			OrderID: offered.Order.ID.String(), Action: orders.Cancel, OperationID: &operation, ExpectedVersion: &version,
		}))
	}))
	closing := func(responders int) int {
		task := w.Tasked(customer, title, title, amount)
		for range responders {
			w.Responded(w.Agent(), task.ID)
		}
		return statements(func(ctx context.Context) error {
			return graphtest.Err(w.Tasks.CloseTask(ctx, tasks.TaskInput{TaskID: task.ID.String()}))
		})
	}
	require.Equal(t, closing(1), closing(4))
}

// The columns of an agent's brief are written once, whatever the names of the agent's row and of the field. An offer reads the
// brief of a counterpart that may not exist.
func TestBriefsIncludeTheirColumns(t *testing.T) {
	t.Parallel()
	key := regexp.MustCompile(`AS "(\w+)\.encryption_public_key"`)
	found := make(map[string]string)
	for path, file := range sqlFiles(t) {
		for _, match := range key.FindAllStringSubmatch(file, -1) {
			found[path] += match[1]
		}
	}
	require.Equal(t, map[string]string{"bots/brief.sql": "author", "orders/orders.sql": "counterpart"}, found)
}

// sqlFiles returns the domains' .sql files by their path.
func sqlFiles(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sql" {
			return err
		}
		raw, err := os.ReadFile(path)
		found[filepath.ToSlash(path)] = string(raw)
		return err
	}))
	require.NotEmpty(t, found)
	return found
}
