package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
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
	// inPath and inQuery name parameters in the order of the description.
	inPath, inQuery []string
	// takes holds the names of all parameters and of the members of the body; nullable those that may be null.
	takes, nullable map[string]bool
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
			made := &operation{
				method: strings.ToUpper(method), path: path, takes: make(map[string]bool), nullable: make(map[string]bool),
			}
			for _, parameter := range o.Parameters {
				parameter = d.resolve(parameter)
				name := as[string](parameter["name"])
				switch parameter["in"] {
				case "path":
					made.inPath = append(made.inPath, name)
				case "query":
					made.inQuery = append(made.inQuery, name)
				default:
					continue // headers are no arguments
				}
				made.takes[name] = true
			}
			for name, schema := range as[object](d.resolve(content(o.RequestBody))["properties"]) {
				made.takes[name] = true
				made.nullable[name] = d.resolve(as[object](schema))["anyOf"] != nil
			}
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
