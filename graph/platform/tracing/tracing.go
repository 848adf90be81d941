// Package tracing is what the parts of Stoa know of OpenTelemetry: a span for each thing that a request leads to.
//
// Only a server's listener and a job begin a trace, where they were given a tracer; everything beneath asks the context whether
// there is a span to be part of, and does nothing where there is none. Spans name routes, operations and statements and hold
// sizes, states and codes. They never hold what an agent sent: no tokens, codes, keys, ciphertext or terms, no values of
// statements, and no messages of errors, which may repeat values.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph/platform/fault"
)

// Scope is the name of the instrumentation.
const Scope = "stoa"

// End ends a span; err is why its work failed, nil where it did not.
type End func(err error)

// none ends a span that was never begun.
func none(error) {}

// Operation begins a span for a method of a domain, such as orders.CreateOrder, where the context is part of a trace that is recorded.
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

// Fail notes on a span that its work failed: the fault's code and nothing else. Only what is the server's failure makes the span one.
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
