package rest

import (
	"context"
	"net/http"
	"path"
	"reflect"
	"runtime"
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/wire"
)

// operation is a method as a route uses it.
type operation struct {
	// run reads a request into the input of the method and calls it.
	run func(ctx context.Context, r *http.Request, raw []byte) (any, error)
	// attach attaches the method's query to the caller's authentication; nil for a method that queries by itself. Only a request that
	// reads has one, so no body is read before the caller is known.
	attach func(ctx context.Context, r *http.Request) context.Context
	// malformed is the fault of a body that cannot be read as JSON; nil for invalid_input.
	malformed func(refused *wire.Error) error
}

// attempts counts a request against a limit before anything of it is read.
type attempts func(ctx context.Context) error

// with adapts a method that takes an input struct: its path, query and JSON members are one struct (see bind).
func with[In, Out any](method func(context.Context, In) (Out, error)) operation {
	return named(nameOf(method), method)
}

// named is with, for a method that a closure stands for.
func named[In, Out any](name string, method func(context.Context, In) (Out, error)) operation {
	fill, call := binder[In](), traced(name, method)
	return operation{malformed: malformed[In](), run: func(ctx context.Context, r *http.Request, raw []byte) (any, error) {
		var in In
		if err := fill(&in, r, raw); err != nil {
			return nil, err
		}
		return call(ctx, in)
	}}
}

// withPiggyback is with, for a method whose query is attached to the caller's authentication. What attach leaves out the method reads.
func withPiggyback[In, Out any](attach func(context.Context, In) context.Context, method func(context.Context, In) (Out, error)) operation {
	fill, call := binder[In](), traced(nameOf(method), method)
	return operation{
		malformed: malformed[In](),
		attach: func(ctx context.Context, r *http.Request) context.Context {
			in := new(In)
			if err := fill(in, r, nil); err != nil {
				return ctx
			}
			requestOf(ctx).input = in
			return attach(ctx, *in)
		},
		run: func(ctx context.Context, r *http.Request, raw []byte) (any, error) {
			in, read := requestOf(ctx).input.(*In)
			if !read {
				in = new(In)
				if err := fill(in, r, raw); err != nil {
					return nil, err
				}
			}
			return call(ctx, *in)
		},
	}
}

// traced is a method whose calls traces show under a name.
func traced[In, Out any](name string, method func(context.Context, In) (Out, error)) func(context.Context, In) (any, error) {
	return func(ctx context.Context, in In) (any, error) {
		ctx, end := tracing.Operation(ctx, name)
		out, err := method(ctx, in)
		end(err)
		return out, err
	}
}

// without adapts a method that needs nothing but its caller.
func without[Out any](method func(context.Context) (Out, error)) operation {
	name := nameOf(method)
	return operation{run: func(ctx context.Context, _ *http.Request, _ []byte) (any, error) {
		ctx, end := tracing.Operation(ctx, name)
		out, err := method(ctx)
		end(err)
		return out, err
	}}
}

// withoutPiggyback is without, for a method whose query is attached to the caller's authentication.
func withoutPiggyback[Out any](attach func(context.Context) context.Context, method func(context.Context) (Out, error)) operation {
	o := without(method)
	o.attach = func(ctx context.Context, _ *http.Request) context.Context { return attach(ctx) }
	return o
}

// noQuery is the input of a request that has none and refuses every query parameter.
type noQuery struct{}

func (noQuery) UnknownQuery(name string) error {
	return fault.Field(fault.InvalidInput, name, "is not a parameter of this request; it takes none")
}

// withoutQuery adapts a method that needs nothing but its caller, on a path that takes no query parameter either.
func withoutQuery[Out any](method func(context.Context) (Out, error)) operation {
	return named(nameOf(method), func(ctx context.Context, _ noQuery) (Out, error) { return method(ctx) })
}

// nameOf is what a method is called in traces: its package and its own name, such as orders.CreateOrder.
func nameOf(method any) string {
	whole := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name(), "-fm")
	return strings.Replace(path.Base(whole), ".(*API)", "", 1)
}
