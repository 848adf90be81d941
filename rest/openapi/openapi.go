// Package openapi reads the OpenAPI description of the server: its operations and their schemas. Nothing changes a description
// once it is read, so everything is safe for concurrent use.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Description holds the parts of a description that its readers need.
type Description struct {
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Components struct {
		Schemas    map[string]*Schema    `json:"schemas"`
		Parameters map[string]*Parameter `json:"parameters"`
		Responses  map[string]*Body      `json:"responses"`
	} `json:"components"`

	// Operations are sorted by path and method.
	Operations []*Operation `json:"-"`
}

// Operation is a method of a path.
type Operation struct {
	ID          string   `json:"operationId"`
	Tags        []string `json:"tags"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	// Security is nil if the operation needs a token, and empty if it takes none.
	Security    *[]any           `json:"security"`
	Parameters  []*Parameter     `json:"parameters"`
	RequestBody *Body            `json:"requestBody"`
	Responses   map[string]*Body `json:"responses"`

	// Method is in capitals.
	Method string `json:"-"`
	Path   string `json:"-"`
}

// Parameter is a parameter of a path, a query or a header.
type Parameter struct {
	Ref         string  `json:"$ref"`
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Schema      *Schema `json:"schema"`
}

// Body is the body of a request, or a response, by media type.
type Body struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema *Schema `json:"schema"`
	} `json:"content"`
}

// JSON returns the schema of a body in JSON, nil for none.
func (b *Body) JSON() *Schema {
	if b == nil {
		return nil
	}
	return b.Content["application/json"].Schema
}

// Codes returns the error codes of a response.
func (b *Body) Codes() (codes []string) {
	if code := b.JSON().Property("error").Property("code"); code != nil {
		for _, one := range code.Enum {
			codes = append(codes, fmt.Sprint(one))
		}
	}
	return codes
}

// Schema holds the parts of a JSON schema that readers need.
type Schema struct {
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Format      string             `json:"format"`
	Pattern     string             `json:"pattern"`
	Const       any                `json:"const"`
	Enum        []any              `json:"enum"`
	Minimum     any                `json:"minimum"`
	Maximum     any                `json:"maximum"`
	MaxLength   int                `json:"maxLength"`
	MaxItems    int                `json:"maxItems"`
	Items       *Schema            `json:"items"`
	Properties  map[string]*Schema `json:"properties"`
	Required    []string           `json:"required"`
	OneOf       []*Schema          `json:"oneOf"`
	AnyOf       []*Schema          `json:"anyOf"`
	AllOf       []*Schema          `json:"allOf"`

	// Type is one type; if Nullable is set, null is also permitted.
	Type     string `json:"-"`
	Nullable bool   `json:"-"`
	// Order has the names of Properties in the order of the description.
	Order []string `json:"-"`
	// Others is the schema of properties that Properties does not name, nil for none.
	Others *Schema `json:"-"`
}

// UnmarshalJSON reads a schema. A type may be a list of one type and null, and additional properties may be a boolean.
func (s *Schema) UnmarshalJSON(raw []byte) error {
	type members Schema
	read := struct {
		*members

		Type       any             `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Others     json.RawMessage `json:"additionalProperties"`
	}{members: (*members)(s)}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	s.Type, _ = read.Type.(string)
	if types, ok := read.Type.([]any); ok {
		s.Type, s.Nullable = fmt.Sprint(types[0]), slices.Contains(types, any("null"))
	}
	if bytes.HasPrefix(read.Others, []byte("{")) {
		if err := json.Unmarshal(read.Others, &s.Others); err != nil {
			return err
		}
	}
	if read.Properties == nil {
		return nil
	}
	s.Properties = make(map[string]*Schema)
	decoder := json.NewDecoder(bytes.NewReader(read.Properties))
	_, err := decoder.Token() // the brace
	for err == nil && decoder.More() {
		name, _ := decoder.Token() // it cannot fail: the text was decoded before
		property := new(Schema)
		err = decoder.Decode(property)
		s.Order = append(s.Order, fmt.Sprint(name))
		s.Properties[fmt.Sprint(name)] = property
	}
	return err
}

// Property returns the schema of a property, nil for none.
func (s *Schema) Property(name string) *Schema {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

// Component returns the name of the component that a reference leads to.
func Component(reference string) string { return reference[strings.LastIndex(reference, "/")+1:] }

// Follow returns the schema that a reference leads to, or the schema itself. Members beside a reference do not count.
func (d *Description) Follow(s *Schema) *Schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[Component(s.Ref)]
	}
	return s
}

// Operation returns the operation with an operationId, nil for none.
func (d *Description) Operation(id string) *Operation {
	if i := slices.IndexFunc(d.Operations, func(o *Operation) bool { return o.ID == id }); i >= 0 {
		return d.Operations[i]
	}
	return nil
}

// Success returns the schema of the answers of success in JSON, nil for none.
func (o *Operation) Success() *Schema {
	return cmp.Or(o.Responses["200"].JSON(), o.Responses["201"].JSON(), o.Responses["202"].JSON())
}

// Parse reads a description in JSON.
func Parse(text []byte) (*Description, error) {
	var read struct {
		Description

		Paths map[string]map[string]*Operation `json:"paths"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("the OpenAPI description: %w", err)
	}
	d := &read.Description
	for path, methods := range read.Paths {
		for method, o := range methods {
			o.Method, o.Path = strings.ToUpper(method), path
			for i, p := range o.Parameters {
				if p.Ref != "" {
					o.Parameters[i] = d.Components.Parameters[Component(p.Ref)]
				}
			}
			d.Operations = append(d.Operations, o)
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return d, nil
}
