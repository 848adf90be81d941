package rest

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

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
// path, `query:"name"` (page.Param) from the query, `header:"Name"` (string) from the header, the rest from the JSON body.
func binder[In any]() func(*In, *http.Request, []byte) error {
	type source struct {
		index int
		name  string
	}
	var paths, queries, headers []source
	shape := reflect.TypeFor[In]()
	for i := range shape.NumField() {
		field := shape.Field(i)
		if name := field.Tag.Get("path"); name != "" {
			paths = append(paths, source{i, name})
		}
		if name := field.Tag.Get("query"); name != "" {
			queries = append(queries, source{i, name})
		}
		if name := field.Tag.Get("header"); name != "" {
			headers = append(headers, source{i, name})
		}
	}
	return func(in *In, r *http.Request, raw []byte) error {
		if raw != nil {
			if err := decode(in, raw); err != nil {
				return err
			}
		}
		value := reflect.ValueOf(in).Elem()
		for _, p := range paths {
			value.Field(p.index).SetString(chi.URLParam(r, p.name))
		}
		for _, h := range headers {
			value.Field(h.index).SetString(r.Header.Get(h.name))
		}
		checker, strict := any(in).(queryChecker)
		if len(queries) == 0 && !strict {
			return nil
		}
		values, err := readQuery(r.URL.RawQuery)
		if err != nil && strict {
			return fault.New(fault.InvalidInput).Say("The query cannot be read.")
		}
		for _, q := range queries {
			value.Field(q.index).Set(reflect.ValueOf(page.Param(values[q.name])))
			delete(values, q.name)
		}
		if strict {
			for name := range values {
				return checker.UnknownQuery(strings.ToValidUTF8(name, "\ufffd"))
			}
		}
		return nil
	}
}

// decode reads a body strictly into an input.
func decode(in any, raw []byte) error {
	if own, ok := in.(bodyDecoder); ok {
		return own.DecodeBody(raw)
	}
	err := wire.Unmarshal(raw, in)
	refused := new(wire.Error)
	if !errors.As(err, &refused) {
		return err
	}
	if own, ok := in.(bodyBlamer); ok {
		return own.BlameBody(refused)
	}
	return invalidInput(refused)
}

// malformed returns the fault of an input for a body that is not valid JSON: invalid_input, or the input's own code.
func malformed[In any]() func(*wire.Error) error {
	in, ok := any(new(In)).(bodyBlamer)
	if !ok {
		return invalidInput
	}
	return func(refused *wire.Error) error { return in.BlameBody(refused) }
}

func invalidInput(refused *wire.Error) error { return fault.Body(fault.InvalidInput, refused) }

// readQuery parses a query and drops nothing: a parameter that cannot be unescaped keeps its text, so that its rule refuses it.
// The error is about the first such parameter.
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

// maxIgnored is how many ignored parameters an answer names.
const maxIgnored = 10

// parametersOf returns the query parameters of an input struct, and whether it refuses all others.
func parametersOf[In any]() (names []string, strict bool) {
	for field := range reflect.TypeFor[In]().Fields() {
		if name := field.Tag.Get("query"); name != "" {
			names = append(names, name)
		}
	}
	_, strict = any(*new(In)).(queryChecker)
	return names, strict
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
