package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Request begins the span of a request to a listener, as part of the caller's trace where it sent a traceparent. finish ends it,
// with the pattern of the route that was found, empty for none. Nothing happens where tracer is nil.
func Request(tracer trace.Tracer, r *http.Request) (with *http.Request, finish func(route string, status int, requestID string)) {
	if tracer == nil {
		return r, func(string, int, string) {}
	}
	method := r.Method
	if !known[method] {
		method = "HTTP" // what a client made up is no name of a span
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
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true,
}

// Job begins the span of a job, as part of the trace of the request that asked for it. One that no traced request asked for has
// none, and nothing happens where tracer is nil.
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
