// Package tracing makes OpenTelemetry spans: of requests, operations, statements and jobs.
//
// Only listeners and jobs begin a trace, if they have a tracer; all other code adds spans to the trace of its context, if there
// is one. Spans name routes, operations and statements and hold sizes, states and codes. They never hold agents' input: no
// tokens, codes, keys, ciphertext or terms, no values of statements, and no error messages, which may repeat values.
package tracing

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph/platform/fault"
)

// Scope is the name of the instrumentation.
const Scope = "stoa"

// End ends a span; err is nil if its work succeeded.
type End func(err error)

// none ends a span that was never begun.
func none(error) {}

// Operation begins a span for a method of a domain, such as orders.CreateOrder, if the context is part of a recorded trace.
func Operation(ctx context.Context, name string) (context.Context, End) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, none
	}
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, name)
	return ctx, func(err error) {
		Fail(span, err)
		span.End()
	}
}

// Fail records only the fault's code on a span. Only a status of 500 or more marks the span as failed.
func Fail(span trace.Span, err error) {
	if err == nil || !span.IsRecording() {
		return
	}
	known := fault.From(err)
	span.SetAttributes(attribute.String("stoa.fault", string(known.Code)))
	if known.Status() >= 500 {
		span.SetStatus(codes.Error, string(known.Code))
	}
}

// Statement begins a span for a statement sent to the database, with its text but without its parameters' values. A failure is
// recorded as its SQLSTATE.
func Statement(ctx context.Context, query string) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, none
	}
	query = strings.TrimSpace(query)
	verb, _, _ := strings.Cut(query, " ")
	verb, _, _ = strings.Cut(verb, "\n")
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, "SQL "+strings.ToUpper(verb), //nolint:spancheck // the returned function ends it
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
