package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph/auth"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/wire"
)

// operation is a domain method, adapted for a route.
type operation struct {
	// run reads a request into the input of the method and calls it.
	run func(ctx context.Context, r *http.Request, raw []byte) (any, error)
	// setUp returns a fault if the operator has not finished the setup for the method. It runs before the request is read; nil if
	// the method needs no setup.
	setUp func(ctx context.Context) error
	// along is the method's first read, done together with the authentication if the request has no query; nil without such a read.
	along *auth.Along
	// uncounted is true if a request does not count as a change, whatever its method.
	uncounted bool
	// limit counts a request before its body is read; nil if the method has no separate limit.
	limit func(ctx context.Context) error
	// parameters are the query parameters that the method knows. If strict is set, the method refuses other parameters; otherwise
	// the server ignores them and lists them in the answer.
	parameters []string
	strict     bool
	// malformed returns the fault of a body that is not valid JSON.
	malformed func(refused *wire.Error) error
}

// withInput adapts a method that takes an input struct: the members of path, query and JSON body are one struct (see binder).
func withInput[In, Out any](method func(context.Context, In) (Out, error)) operation {
	return adapt(nameOf(method), *new(In), method)
}

// adapt is withInput under a name in traces, for an input of which the route already sets members that no request can set.
func adapt[In, Out any](name string, preset In, method func(context.Context, In) (Out, error)) operation {
	fill, parameters := binder[In]()
	call := traced(name, method)
	_, strict := any(preset).(queryChecker)
	o := operation{malformed: invalidInput, parameters: parameters, strict: strict}
	if in, ok := any(preset).(bodyBlamer); ok {
		o.malformed = func(refused *wire.Error) error { return in.BlameBody(refused) }
	}
	o.run = func(ctx context.Context, r *http.Request, raw []byte) (any, error) {
		in := preset
		if err := fill(&in, r, raw); err != nil {
			if refused := new(wire.Error); errors.As(err, &refused) {
				return nil, o.malformed(refused)
			}
			return nil, err
		}
		return call(ctx, in)
	}
	return o
}

// withoutInput adapts a method that needs only its caller.
func withoutInput[Out any](method func(context.Context) (Out, error)) operation {
	return adapt(nameOf(method), struct{}{}, func(ctx context.Context, _ struct{}) (Out, error) { return method(ctx) })
}

// noQuery is the input of a request that refuses every query parameter.
type noQuery struct{}

func (noQuery) UnknownQuery(name string) error {
	return fault.Field(fault.InvalidInput, name, "is not a parameter of this request; it takes none")
}

// withoutQuery adapts a method that needs only its caller, on a path that refuses every query parameter.
func withoutQuery[Out any](method func(context.Context) (Out, error)) operation {
	return adapt(nameOf(method), noQuery{}, func(ctx context.Context, _ noQuery) (Out, error) { return method(ctx) })
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

// whenSetUp makes setUp refuse requests before they are read.
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

// bodyDecoder is an input that decodes its body itself, because it checks in another order than the general one.
type bodyDecoder interface {
	DecodeBody(raw []byte) error
}

// bodyBlamer is an input whose route has special error codes for a body that cannot be read.
type bodyBlamer interface {
	BlameBody(refused *wire.Error) *fault.Error
}

// queryChecker is an input that refuses unknown query parameters; other inputs ignore them.
type queryChecker interface {
	UnknownQuery(name string) error
}

// binder returns a function that fills an input struct, which it inspects once: fields tagged `path:"name"` (string) from the
// path, `query:"name"` (page.Param) from the query, `header:"Name"` (string) from the header, the rest from the JSON body. It also
// returns the names of the query parameters.
func binder[In any]() (fill func(*In, *http.Request, []byte) error, parameters []string) {
	type source struct {
		field     int
		tag, name string
	}
	var sources []source
	for i := range reflect.TypeFor[In]().NumField() {
		for _, tag := range []string{"path", "query", "header"} {
			name := reflect.TypeFor[In]().Field(i).Tag.Get(tag)
			if name != "" {
				sources = append(sources, source{i, tag, name})
			}
			if name != "" && tag == "query" {
				parameters = append(parameters, name)
			}
		}
	}
	return func(in *In, r *http.Request, raw []byte) error {
		if err := decode(in, raw); err != nil {
			return err
		}
		checker, strict := any(in).(queryChecker)
		var values url.Values
		var err error
		if len(parameters) > 0 || strict {
			values, err = readQuery(r.URL.RawQuery)
		}
		if strict && (err != nil || len(parameters)+len(values) == 0 && r.URL.RawQuery != "") { // such as "&"
			return fault.New(fault.InvalidInput).Say("The query cannot be read.")
		}
		for _, from := range sources {
			switch field := reflect.ValueOf(in).Elem().Field(from.field); from.tag {
			case "path":
				field.SetString(chi.URLParam(r, from.name))
			case "header":
				field.SetString(r.Header.Get(from.name))
			default:
				field.Set(reflect.ValueOf(page.Param(values[from.name])))
				delete(values, from.name)
			}
		}
		if strict {
			for name := range values {
				return checker.UnknownQuery(strings.ToValidUTF8(name, "\ufffd"))
			}
		}
		return nil
	}, parameters
}

// decode reads a body strictly into an input; it ignores a body that was not read.
func decode(in any, raw []byte) error {
	own, ok := in.(bodyDecoder)
	switch {
	case raw == nil:
		return nil
	case ok:
		return own.DecodeBody(raw)
	}
	return wire.Unmarshal(raw, in)
}

func invalidInput(refused *wire.Error) error { return fault.Body(fault.InvalidInput, refused) }

// readQuery parses a query completely: a parameter that cannot be unescaped keeps its text, so that its rule refuses it. The
// error names the first such parameter.
func readQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err == nil {
		return values, nil
	}
	values = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = unescape(name)
		values[name] = append(values[name], unescape(value))
	}
	return values, err
}

func unescape(s string) string {
	if unescaped, err := url.QueryUnescape(s); err == nil {
		return unescaped
	}
	return s
}

// ignoredHeader lists the query parameters that the server ignored (§1.8).
const ignoredHeader = "X-Ignored-Parameters"

// maxIgnored is the maximum number of ignored parameters that an answer names.
const maxIgnored = 10

// naming adds X-Ignored-Parameters to the answers of a handler outside the table of routes. o has the known parameters.
func naming(o *operation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nameIgnored(w.Header(), o, r.URL.RawQuery)
		next.ServeHTTP(w, r)
	})
}

// nameIgnored lists the unknown query parameters of a request in its answer, percent-encoded, in the order of the request.
func nameIgnored(h http.Header, o *operation, rawQuery string) {
	if rawQuery == "" || o.strict {
		return
	}
	var ignored []string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name = unescape(name)
		encoded := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
		if name == "" || slices.Contains(o.parameters, name) || slices.Contains(ignored, encoded) {
			continue
		}
		if ignored = append(ignored, encoded); len(ignored) == maxIgnored {
			break
		}
	}
	if len(ignored) > 0 {
		h.Set(ignoredHeader, strings.Join(ignored, ", "))
	}
}
