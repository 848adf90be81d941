package rest

import (
	"context"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

// request is the context of one request. It holds what the handlers in front of a route find out, and what the domains look for in
// a context, all in one piece instead of a context each.
type request struct {
	context.Context //nolint:containedctx // this is a context

	id, address string
	limits      limits.Record
	caller      viewer.Viewer
	// input is what was read of the path and the query before the caller was admitted, nil for nothing.
	input any
}

type requestKey struct{}

// Value implements context.Context.
func (q *request) Value(key any) any {
	switch key.(type) {
	case requestKey:
		return q
	case limits.Key:
		return &q.limits
	case viewer.Key:
		return &q.caller
	default:
		return q.Context.Value(key)
	}
}

// requestOf returns the request that headers began; an empty one for a context that did not come through it.
func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{Context: ctx}
}
