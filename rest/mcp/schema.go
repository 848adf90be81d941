package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// operationID is the field that names a request for repeats. Models need not give it (see client.DeriveID).
const operationID = "operation_id"

// built is a tool with its operations.
type built struct {
	row        *tool
	tool       *sdk.Tool
	operations []*operation
	input      map[string]bool
}

// build makes a tool of a row of the table.
func (t *tool) build(d *description) (*built, error) {
	b := &built{row: t, operations: make([]*operation, len(t.operations)), input: make(map[string]bool)}
	answers := make([]object, len(t.operations))
	for i, name := range t.operations {
		o, ok := d.operations[name]
		if !ok || o.answer == nil {
			return nil, fmt.Errorf("mcp: tool %s: the description has no operation %s with an answer", t.name, name)
		}
		b.operations[i], answers[i] = o, o.answer
	}
	input := t.input(b.operations)
	for name := range as[object](input["properties"]) {
		b.input[name] = true
	}
	closed, destructive := false, t.effect == changes
	b.tool = &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: input, OutputSchema: d.output(answers),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.effect == reads, IdempotentHint: t.effect != adds, DestructiveHint: &destructive, OpenWorldHint: &closed,
		},
	}
	return b, nil
}

// input is the schema of the arguments: those of all operations, of which what all of them need is required. What else belongs together
// the service itself knows; few programs of models bear more than a plain object.
func (t *tool) input(operations []*operation) object {
	properties, needs := make(object), make(map[string]int)
	for _, o := range operations {
		for name, schema := range o.schemas {
			if _, ok := properties[name]; !ok {
				properties[name] = schema
			}
		}
		for _, name := range o.required {
			needs[name]++
		}
	}
	for _, name := range t.without {
		delete(properties, name)
	}
	required := make([]any, 0)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if needs[name] == len(operations) && name != operationID {
			required = append(required, name)
		}
	}
	if t.choice != "" {
		properties[t.choice] = object{"type": "string", "enum": toAny(t.choices)}
		required = append(required, t.choice)
	}
	if schema, ok := properties[operationID].(object); ok {
		schema = maps.Clone(schema)
		schema["description"] = "Derived from the other arguments unless sent: name a new one only to do the same once more."
		properties[operationID] = schema
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func toAny(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// output is the schema of the result: the answer of the operation that was called. Fences make texts longer and different, so texts have
// no bounds in it.
func (d *description) output(answers []object) object {
	definitions := make(object)
	made := make([]any, 0, len(answers))
	for _, answer := range answers {
		schema := d.define(answer, definitions)
		if !slices.ContainsFunc(made, func(one any) bool { return string(encode(one)) == string(encode(schema)) }) {
			made = append(made, schema)
		}
	}
	whole := object{"type": "object", "$defs": definitions}
	if len(made) == 1 {
		maps.Copy(whole, as[object](made[0]))
	} else {
		whole["anyOf"] = made
	}
	return whole
}

// define is a schema whose references lead to definitions, where it puts what they lead to.
func (d *description) define(schema any, definitions object) any {
	switch schema := schema.(type) {
	case object:
		made := make(object, len(schema))
		for key, value := range schema {
			switch key {
			case "maxLength", "minLength", "pattern", "format", "example", "examples", "description":
				if _, isSchema := value.(object); !isSchema { // a member of that name is one
					continue
				}
			case "$ref":
				name := strings.TrimPrefix(as[string](value), "#/components/schemas/")
				if _, ok := definitions[name]; !ok {
					definitions[name] = nil // it may refer to itself
					definitions[name] = d.define(as[object](d.components["schemas"])[name], definitions)
				}
				made[key] = "#/$defs/" + name
				continue
			}
			made[key] = d.define(value, definitions)
		}
		return made
	case []any:
		made := make([]any, len(schema))
		for i, value := range schema {
			made[i] = d.define(value, definitions)
		}
		return made
	}
	return schema
}
