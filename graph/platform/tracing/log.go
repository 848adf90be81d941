package tracing

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// logs adds to each line the trace that its context is part of.
type logs struct{ slog.Handler }

// Logs makes lines that are written during a recorded trace say which: trace_id and span_id.
func Logs(handler slog.Handler) slog.Handler { return logs{handler} }

// Handle is slog's to call.
func (l logs) Handle(ctx context.Context, record slog.Record) error {
	if at := trace.SpanContextFromContext(ctx); at.IsSampled() {
		record = record.Clone()
		record.AddAttrs(slog.String("trace_id", at.TraceID().String()), slog.String("span_id", at.SpanID().String()))
	}
	return l.Handler.Handle(ctx, record)
}

// WithAttrs is slog's to call.
func (l logs) WithAttrs(attributes []slog.Attr) slog.Handler {
	return logs{l.Handler.WithAttrs(attributes)}
}

// WithGroup is slog's to call.
func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
