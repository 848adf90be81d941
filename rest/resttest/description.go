package resttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"stoa/rest"
)

// address names the document among the compiler's resources.
const address = "stoa:openapi.json"

const jsonType = "application/json"

// Description is the OpenAPI document. Schemas are compiled when they are first needed; their dialect is JSON Schema 2020-12.
type Description struct {
	// Document is the whole document as plain JSON values; numbers are json.Number.
	Document map[string]any
	// Operations are the operations of all paths, in no order.
	Operations []*Operation

	router   *chi.Mux // it matches the paths
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// Operation is one method of one path.
type Operation struct {
	// ID is the operationId, Method is in capitals, Path is the template.
	ID, Method, Path string

	place
}

// place is an object of the document.
type place struct {
	d     *Description
	value map[string]any
	// at is the object's JSON pointer.
	at string
}

// Load returns the description that the server serves, always the same value. It panics if this is no OpenAPI document.
var Load = sync.OnceValue(func() *Description {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(rest.OpenAPI("")))
	if err != nil {
		panic(err)
	}
	d := &Description{
		Document: object(value), router: chi.NewMux(), compiler: jsonschema.NewCompiler(), compiled: make(map[string]*jsonschema.Schema),
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(address, value); err != nil {
		panic(err)
	}
	for path, item := range object(d.Document["paths"]) {
		d.router.Handle(path, http.NotFoundHandler())
		for method := range object(item) {
			found := d.find("paths", path, method)
			id, _ := found.value["operationId"].(string)
			d.Operations = append(d.Operations, &Operation{id, strings.ToUpper(method), path, found})
		}
	}
	return d
})

// find follows names from the root of the document.
func (d *Description) find(names ...string) place {
	return place{d: d, value: d.Document}.find(names...)
}

// find follows names and references to components. The value of a missing place is nil.
func (p place) find(names ...string) place {
	for _, name := range names {
		p = place{p.d, object(p.value[name]), p.at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)}
		if target, ok := p.value["$ref"].(string); ok {
			p = p.d.find(strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
		}
	}
	return p
}

// query returns the place of a query parameter of the operation.
func (o *Operation) query(name string) place {
	parameters, _ := o.value["parameters"].([]any)
	for i, member := range parameters {
		one := place{o.d, map[string]any{"parameter": member}, o.at + "/parameters/" + strconv.Itoa(i)}.find("parameter")
		one.at = strings.TrimSuffix(one.at, "/parameter")
		if one.value["in"] == "query" && one.value["name"] == name {
			return one
		}
	}
	return place{}
}

// json returns the place of the JSON schema of a body or a response; its value is nil if there is no schema.
func (p place) json() place {
	found := p.find("content", jsonType)
	if found.value["schema"] == nil {
		return place{}
	}
	return found
}

// check returns an error for parts of a value that the place's schema does not allow. A place without a schema allows anything.
func (p place) check(value any) error {
	if p.value == nil {
		return nil
	}
	return p.d.check(p.at+"/schema", value)
}

// checkText is check for the text of a header or a parameter; it parses a number or a boolean if the schema requires one.
func (p place) checkText(text string) error {
	if p.value == nil {
		return nil
	}
	schema, err := p.d.schema(p.at + "/schema")
	if err != nil {
		return err
	}
	var value any = text
	wants := func(kind string) bool { return schema.Types != nil && strings.Contains(schema.Types.String(), kind) }
	switch {
	case wants("integer") && json.Valid([]byte(text)):
		value = json.Number(text)
	case wants("boolean") && (text == "true" || text == "false"):
		value = text == "true"
	}
	return p.check(value)
}

func (p place) checkJSON(raw []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return p.check(value)
}

// check returns an error for the parts of a value that the schema at a pointer does not allow, with JSON pointers.
func (d *Description) check(at string, value any) error {
	schema, err := d.schema(at)
	if err != nil {
		return err
	}
	if err = schema.Validate(value); err == nil {
		return nil
	}
	_, said, _ := strings.Cut(err.Error(), "\n") // the first line only names the schema
	return fmt.Errorf("%s (%s)", strings.Join(strings.Fields(said), " "), at)
}

func (d *Description) schema(at string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.compiled[at] == nil {
		made, err := d.compiler.Compile(address + "#" + at)
		if err != nil {
			return nil, err
		}
		d.compiled[at] = made
	}
	return d.compiled[at], nil
}

// Find returns the operation of a request, and whether its path is described at all. HEAD counts as GET.
func (d *Description) Find(method, path string) (operation *Operation, known bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	template := d.router.Find(chi.NewRouteContext(), http.MethodGet, path)
	i := slices.IndexFunc(d.Operations, func(o *Operation) bool { return o.Path == template && o.Method == method })
	if i >= 0 {
		operation = d.Operations[i]
	}
	return operation, template != ""
}

func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}
