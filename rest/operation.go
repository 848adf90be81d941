package rest

import (
	"context"
	"net/http"
	"path"
	"reflect"
	"runtime"
	"strings"

	"stoa/graph/auth"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/wire"
)

// operation is a domain method, adapted for a route.
type operation struct {
	// run reads a request into the input of the method and calls it.
	run func(ctx context.Context, r *http.Request, raw []byte) (any, error)
	// setUp returns a fault if the operator has not finished the setup for the method. It runs before anything of the request is
	// read; nil if the method needs no setup.
	setUp func(ctx context.Context) error
	// along is the method's first read, done together with the authentication if the request has no query; nil without such a read.
	along *auth.Along
	// uncounted: a request does not count as a change, whatever its method.
	uncounted bool
	// limit counts a request before its body is read; nil if the method has no separate limit.
	limit func(ctx context.Context) error
	// parameters are the query parameters that the method knows. If strict, the method refuses others; otherwise the server ignores
	// them and lists them in the answer.
	parameters []string
	strict     bool
	// malformed returns the fault of a body that is not valid JSON.
	malformed func(refused *wire.Error) error
}

// withInput adapts a method that takes an input struct: the members of path, query and JSON body are one struct (see binder).
func withInput[In, Out any](method func(context.Context, In) (Out, error)) operation {
	return withNamedInput(nameOf(method), method)
}

// withNamedInput is withInput for a closure, under the name of the method that it calls.
func withNamedInput[In, Out any](name string, method func(context.Context, In) (Out, error)) operation {
	fill, call := binder[In](), traced(name, method)
	parameters, strict := parametersOf[In]()
	return operation{malformed: malformed[In](), parameters: parameters, strict: strict, run: func(ctx context.Context, r *http.Request, raw []byte) (any, error) {
		var in In
		if err := fill(&in, r, raw); err != nil {
			return nil, err
		}
		return call(ctx, in)
	}}
}

// withoutInput adapts a method that needs only its caller.
func withoutInput[Out any](method func(context.Context) (Out, error)) operation {
	call := traced(nameOf(method), func(ctx context.Context, _ struct{}) (Out, error) { return method(ctx) })
	return operation{malformed: invalidInput, run: func(ctx context.Context, _ *http.Request, _ []byte) (any, error) {
		return call(ctx, struct{}{})
	}}
}

// noQuery is the input of a request that refuses every query parameter.
type noQuery struct{}

func (noQuery) UnknownQuery(name string) error {
	return fault.Field(fault.InvalidInput, name, "is not a parameter of this request; it takes none")
}

// withoutQuery adapts a method that needs only its caller, on a path that refuses every query parameter.
func withoutQuery[Out any](method func(context.Context) (Out, error)) operation {
	return withNamedInput(nameOf(method), func(ctx context.Context, _ noQuery) (Out, error) { return method(ctx) })
}

// limited makes limit count each request before its body is read.
func limited(limit func(context.Context) error, o operation) operation {
	o.limit = limit
	return o
}

// uncounted marks an operation whose requests do not count as changes.
func uncounted(o operation) operation {
	o.uncounted = true
	return o
}

// readAlong makes the authentication do the method's first read.
func readAlong(along *auth.Along, o operation) operation {
	o.along = along
	return o
}

// whenSetUp makes setUp refuse requests before anything of them is read.
func whenSetUp(setUp func(context.Context) error, o operation) operation {
	o.setUp = setUp
	return o
}

// traced wraps a method so that traces show its calls under a name.
func traced[In, Out any](name string, method func(context.Context, In) (Out, error)) func(context.Context, In) (any, error) {
	return func(ctx context.Context, in In) (any, error) {
		ctx, end := tracing.Operation(ctx, name)
		out, err := method(ctx, in)
		end(err)
		return out, err
	}
}

// nameOf returns the name of a method in traces: package and method, such as orders.CreateOrder.
func nameOf(method any) string {
	whole := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name(), "-fm")
	return strings.Replace(path.Base(whole), ".(*API)", "", 1)
}
