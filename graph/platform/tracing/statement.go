package tracing

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Statement begins a span for a statement sent to the database: its text, whose values are parameters and not in it. A failure
// shows as its SQLSTATE.
func Statement(ctx context.Context, query string) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, none
	}
	query = strings.TrimSpace(query)
	verb, _, _ := strings.Cut(query, " ")
	verb, _, _ = strings.Cut(verb, "\n")
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, "SQL "+strings.ToUpper(verb), //nolint:spancheck // what is returned ends it
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("db.system.name", "postgresql"), attribute.String("db.query.text", query)))
	return ctx, func(err error) { //nolint:spancheck // as above
		if err != nil {
			state := "none"
			if refused := new(pq.Error); errors.As(err, &refused) {
				state = string(refused.Code)
			}
			span.SetAttributes(attribute.String("db.response.status_code", state))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
