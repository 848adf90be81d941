package tracing

import (
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

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
