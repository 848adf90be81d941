package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// description holds the operations of the OpenAPI description.
type description struct {
	operations map[string]*operation
	components object
}

// operation is a request of /api/v1.
type operation struct {
	method, path string
	// inPath and inQuery name parameters in the order of the description; fields are the members of the body.
	inPath, inQuery, fields []string
	// schemas of all of these by name, and the names of those that must be given.
	schemas  object
	required []string
	// answer is the schema of success.
	answer object
}

// parse reads the description, which is OpenAPI 3.1 as JSON.
func parse(text []byte) (*description, error) {
	var whole struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components object                                `json:"components"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("mcp: the description: %w", err)
	}
	d := &description{make(map[string]*operation), whole.Components}
	for path, item := range whole.Paths {
		for method, raw := range item {
			var o struct {
				ID          string            `json:"operationId"` //nolint:tagliatelle // names of OpenAPI
				Parameters  []object          `json:"parameters"`
				RequestBody object            `json:"requestBody"` //nolint:tagliatelle // names of OpenAPI
				Responses   map[string]object `json:"responses"`
			}
			if err := json.Unmarshal(raw, &o); err != nil || o.ID == "" {
				continue // what all methods of a path share
			}
			made := &operation{method: strings.ToUpper(method), path: path, schemas: make(object)}
			for _, parameter := range o.Parameters {
				made.parameter(d, d.resolve(parameter))
			}
			made.body(d, content(o.RequestBody))
			for _, status := range []string{"200", "201", "202"} {
				if found := content(d.resolve(o.Responses[status])); found != nil {
					made.answer = found
				}
			}
			d.operations[o.ID] = made
		}
	}
	return d, nil
}

func (o *operation) parameter(d *description, parameter object) {
	name := as[string](parameter["name"])
	switch parameter["in"] {
	case "path":
		o.inPath = append(o.inPath, name)
	case "query":
		o.inQuery = append(o.inQuery, name)
	default:
		return // headers are no arguments
	}
	schema := as[object](d.inline(parameter["schema"]))
	if text, ok := parameter["description"]; ok {
		schema["description"] = text
	}
	o.schemas[name] = schema
	if parameter["required"] == true {
		o.required = append(o.required, name)
	}
}

func (o *operation) body(d *description, schema object) {
	if schema == nil {
		return
	}
	schema = as[object](d.inline(schema))
	properties := as[object](schema["properties"])
	maps.Copy(o.schemas, properties)
	o.fields = slices.Sorted(maps.Keys(properties))
	for _, name := range as[[]any](schema["required"]) {
		o.required = append(o.required, as[string](name))
	}
}

// content is the schema of a JSON body, or nil.
func content(body object) object {
	for _, key := range []string{"content", "application/json", "schema"} {
		body = as[object](body[key])
	}
	return body
}

// resolve follows a reference; members beside it take the place of those it leads to.
func (d *description) resolve(value object) object {
	reference, ok := value["$ref"].(string)
	if !ok {
		return value
	}
	found := any(d.components)
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/components/"), "/") {
		found = as[object](found)[name]
	}
	resolved := maps.Clone(d.resolve(as[object](found)))
	for key, own := range value {
		if key != "$ref" {
			resolved[key] = own
		}
	}
	return resolved
}

// inline is a schema without references, as models' programs want arguments.
func (d *description) inline(schema any) any {
	switch schema := schema.(type) {
	case object:
		resolved := maps.Clone(d.resolve(schema))
		for key, value := range resolved {
			resolved[key] = d.inline(value)
		}
		return resolved
	case []any:
		inlined := make([]any, len(schema))
		for i, value := range schema {
			inlined[i] = d.inline(value)
		}
		return inlined
	}
	return schema
}
