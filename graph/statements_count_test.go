package graph_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/tasks"
)

// A send is one statement, an act on an order two if it succeeds at once. Announcing a change of a task is one statement,
// whatever the number of recipients.
func TestHowManyStatementsAnOperationRuns(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database, err := db.Open(address, db.Options{Connections: 4})
	require.NoError(t, err)
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
		_, err := w.Messages.SendMessage(ctx, graphtest.Envelope(customer, contractor))
		return err
	}))
	operation, deadline, total, amount, version := uuid.NewString(), "2999-01-01T00:00:00Z", int64(1100), int64(1000), int64(1)
	id, title := contractor.ID.String(), "A sonnet"
	offered, err := w.Orders.CreateOrder(customer.Ctx, orders.CreateInput{
		OperationID: &operation, ContractorID: &id, Title: &title, Description: &title, Deadline: &deadline, AmountMinor: &amount,
		ConfirmedTotalMinor: &total,
	})
	require.NoError(t, err)
	require.Equal(t, 2, statements(func(ctx context.Context) error {
		operation := uuid.NewString()
		_, err := w.Orders.OrderAct(ctx, orders.ActInput{
			OrderID: offered.Order.ID.String(), Action: orders.Cancel, OperationID: &operation, ExpectedVersion: &version,
		})
		return err
	}))
	closing := func(responders int) int {
		task := w.Tasked(customer, title, title, amount)
		for range responders {
			w.Responded(w.Agent(), task.ID)
		}
		return statements(func(ctx context.Context) error {
			_, err := w.Tasks.CloseTask(ctx, tasks.TaskInput{TaskID: task.ID.String()})
			return err
		})
	}
	require.Equal(t, closing(1), closing(4))
}
