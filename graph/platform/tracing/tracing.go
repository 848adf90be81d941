// Package tracing makes OpenTelemetry spans: of requests, operations, statements and jobs.
//
// Only listeners and jobs begin a trace, if they have a tracer; all other code adds spans to the trace of its context, if there
// is one. Spans name routes, operations and statements and hold sizes, states and codes. They never hold agents' input: no
// tokens, codes, keys, ciphertext or terms, no values of statements, and no error messages, which may repeat values.
package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/lib/pq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
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
			if refused := pq.As(err); refused != nil {
				state = string(refused.Code)
			}
			span.SetAttributes(attribute.String("db.response.status_code", state))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Request begins the span of a request to a listener, as part of the caller's trace if it sent a traceparent. finish ends it,
// with the pattern of the matched route, empty for none. If tracer is nil, nothing happens.
func Request(tracer trace.Tracer, r *http.Request) (with *http.Request, finish func(route string, status int, requestID string)) {
	if tracer == nil {
		return r, func(string, int, string) {}
	}
	method := r.Method
	if !known[method] {
		method = "HTTP" // an unknown method must not become the name of a span
	}
	ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), func(route string, status int, requestID string) {
		defer span.End()
		if !span.IsRecording() {
			return
		}
		span.SetAttributes(attribute.String("http.request.method", method), attribute.Int("http.response.status_code", status),
			attribute.String("stoa.request_id", requestID))
		if route != "" {
			span.SetName(method + " " + route)
			span.SetAttributes(attribute.String("http.route", route))
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
}

var known = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true,
}

// Job begins the span of a job, as part of the trace of the request that enqueued it. Without such a trace, or if tracer is nil,
// it does nothing.
func Job(ctx context.Context, tracer trace.Tracer, kind string, from Carried) (context.Context, End) {
	if tracer == nil || from.Parent == "" {
		return ctx, none
	}
	ctx = from.Resume(ctx)
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, none
	}
	ctx, span := tracer.Start(ctx, "job "+kind, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attribute.String("stoa.job.kind", kind)))
	return ctx, func(err error) {
		Fail(span, err)
		span.End()
	}
}

// w3c reads and writes traceparent and tracestate.
var w3c propagation.TraceContext

// Carried is the trace position of the request that enqueued a job; the job stores it.
type Carried struct {
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`
}

// Carry returns the position of the context in a recorded trace, or empty.
func Carry(ctx context.Context) Carried {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return Carried{}
	}
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return Carried{carrier["traceparent"], carrier["tracestate"]}
}

// Resume returns a context that continues the trace.
func (c Carried) Resume(ctx context.Context) context.Context {
	return w3c.Extract(ctx, propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State})
}

// logs adds the trace of the context to each line.
type logs struct{ slog.Handler }

// Logs adds trace_id and span_id to lines that are logged during a recorded trace.
func Logs(handler slog.Handler) slog.Handler { return logs{handler} }

func (l logs) Handle(ctx context.Context, record slog.Record) error {
	if at := trace.SpanContextFromContext(ctx); at.IsSampled() {
		record = record.Clone()
		record.AddAttrs(slog.String("trace_id", at.TraceID().String()), slog.String("span_id", at.SpanID().String()))
	}
	return l.Handler.Handle(ctx, record)
}

func (l logs) WithAttrs(attributes []slog.Attr) slog.Handler {
	return logs{l.Handler.WithAttrs(attributes)}
}

func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
