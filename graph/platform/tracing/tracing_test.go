package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/tracing"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func recorder() (*tracetest.SpanRecorder, *sdk.TracerProvider) {
	spans := tracetest.NewSpanRecorder()
	return spans, sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
}

func attributes(span sdk.ReadOnlySpan) map[string]any {
	all := make(map[string]any)
	for _, a := range span.Attributes() {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

func TestAChainOfSpans(t *testing.T) {
	t.Parallel()
	spans, provider := recorder()
	tracer := provider.Tracer(tracing.Scope)
	r := httptest.NewRequest(http.MethodPost, "/api/v1/orders?secret=1", nil)
	r.Header.Set("Traceparent", parent)
	r, finish := tracing.Request(tracer, r)
	ctx, end := tracing.Operation(r.Context(), "orders.CreateOrder")
	_, done := tracing.Statement(ctx, "\n INSERT INTO orders VALUES ($1)")
	done(&pq.Error{Code: "23505", Message: "the value is secret"})
	carried := tracing.Carry(ctx)
	end(fault.New(fault.StateConflict).Say("a secret"))
	finish("/api/v1/orders", http.StatusConflict, "an-id")
	_, ended := tracing.Job(t.Context(), tracer, "inspect", carried)
	ended(errors.New("a secret"))

	all := spans.Ended()
	require.Len(t, all, 4)
	statement, operation, request, job := all[0], all[1], all[2], all[3]
	for _, span := range all {
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", span.SpanContext().TraceID().String())
		require.Empty(t, span.Events(), "messages of errors may repeat values")
	}
	require.Equal(t, "b7ad6b7169203331", request.Parent().SpanID().String())
	require.Equal(t, request.SpanContext().SpanID(), operation.Parent().SpanID())
	require.Equal(t, operation.SpanContext().SpanID(), statement.Parent().SpanID())
	require.Equal(t, operation.SpanContext().SpanID(), job.Parent().SpanID())
	require.Equal(t, "SQL INSERT", statement.Name())
	require.Equal(t, map[string]any{"db.system.name": "postgresql", "db.query.text": "INSERT INTO orders VALUES ($1)", "db.response.status_code": "23505"},
		attributes(statement))
	require.Equal(t, "orders.CreateOrder", operation.Name())
	require.Equal(t, map[string]any{"stoa.fault": "state_conflict"}, attributes(operation))
	require.Equal(t, codes.Unset, operation.Status().Code, "a refusal is no failure")
	require.Equal(t, "POST /api/v1/orders", request.Name())
	require.Equal(t, map[string]any{"http.request.method": "POST", "http.route": "/api/v1/orders", "http.response.status_code": int64(409),
		"stoa.request_id": "an-id"}, attributes(request))
	require.Equal(t, "job inspect", job.Name())
	require.Equal(t, codes.Error, job.Status().Code)
	require.Equal(t, "internal_error", job.Status().Description)
}

func TestNoSpansWithoutATrace(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	same, finish := tracing.Request(nil, r)
	require.Same(t, r, same)
	finish("/", http.StatusOK, "")
	ctx, end := tracing.Operation(t.Context(), "bots.Me")
	require.Equal(t, t.Context(), ctx)
	end(nil)
	ctx, done := tracing.Statement(t.Context(), "SELECT 1")
	require.Equal(t, t.Context(), ctx)
	done(nil)
	require.Equal(t, tracing.Carried{}, tracing.Carry(t.Context()))

	spans, provider := recorder()
	for _, from := range []tracing.Carried{{}, {Parent: "nonsense"}} {
		ctx, ended := tracing.Job(t.Context(), provider.Tracer(tracing.Scope), "deliver", from)
		require.Equal(t, tracing.Carried{}, tracing.Carry(ctx))
		ended(nil)
	}
	require.Empty(t, spans.Ended())
}

func TestAnUnknownMethodIsNotInTheName(t *testing.T) {
	t.Parallel()
	spans, provider := recorder()
	_, finish := tracing.Request(provider.Tracer(tracing.Scope), httptest.NewRequest("BREW", "/pot", nil))
	finish("", http.StatusNotFound, "id")
	require.Equal(t, "HTTP", spans.Ended()[0].Name())
}

func TestLinesNameTheirTrace(t *testing.T) {
	t.Parallel()
	_, provider := recorder()
	ctx, span := provider.Tracer(tracing.Scope).Start(t.Context(), "a span")
	_, never := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())).Tracer(tracing.Scope).Start(t.Context(), "a span")
	var out bytes.Buffer
	log := slog.New(tracing.Logs(slog.NewTextHandler(&out, nil))).With("a", 1).WithGroup("g")
	for _, c := range []struct {
		ctx  context.Context
		said bool
	}{{ctx, true}, {t.Context(), false}, {context.WithoutCancel(ctx), true}} {
		out.Reset()
		log.InfoContext(c.ctx, "line")
		require.Equal(t, c.said, bytes.Contains(out.Bytes(), []byte("trace_id="+span.SpanContext().TraceID().String())), "%s", out.String())
	}
	never.End()
	span.End()
}
