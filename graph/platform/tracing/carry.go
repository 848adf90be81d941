package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// w3c reads and writes traceparent and tracestate.
var w3c propagation.TraceContext

// Carried is a place in a trace that outlives its process: what a job keeps of the request that asked for it.
type Carried struct {
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`
}

// Carry returns the place that the context has in a trace that is recorded; empty where it has none.
func Carry(ctx context.Context) Carried {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return Carried{}
	}
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return Carried{carrier["traceparent"], carrier["tracestate"]}
}

// Resume returns a context that goes on at that place.
func (c Carried) Resume(ctx context.Context) context.Context {
	return w3c.Extract(ctx, propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State})
}
