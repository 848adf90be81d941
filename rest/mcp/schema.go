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
	// input are the schemas of the arguments by name.
	input object
	// present is the operation of row.present, nil for none.
	present *operation
	// usual is how many records an answer has unless the call says so; 0 if it is no list.
	usual int64
	// forms says which texts of results are the server's own.
	forms *forms
}

// build makes a tool of a row of the table.
func (t *tool) build(d *description) (*built, error) {
	b := &built{row: t, operations: make([]*operation, len(t.operations)), forms: new(forms)}
	answers := make([]object, len(t.operations))
	for i, name := range t.operations {
		o, ok := d.operations[name]
		if !ok || o.answer == nil {
			return nil, fmt.Errorf("mcp: tool %s: the description has no operation %s with an answer", t.name, name)
		}
		b.operations[i], answers[i] = o, o.answer
		if len(o.inQuery) > 0 {
			b.usual = 20
		}
		b.forms.add(d, o.answer)
	}
	if t.present != "" {
		b.present = d.operations[t.present]
	}
	repeatable := slices.ContainsFunc(b.operations, func(o *operation) bool { return o.schemas[operationID] != nil })
	output := d.output(answers)
	if repeatable {
		b.addReplay(output)
	}
	input := t.input(b.operations)
	b.input = as[object](input["properties"])
	closed, destructive := false, t.effect == changes
	b.tool = &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description + b.members(), InputSchema: input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.effect == reads, IdempotentHint: t.effect != adds, DestructiveHint: &destructive, OpenWorldHint: &closed,
		},
	}
	return b, nil
}

// addReplay adds the members of a stored answer to the schema of a result, and the form of the record's present state.
func (b *built) addReplay(output object) {
	name := strings.TrimPrefix(as[string](output["$ref"]), "#/$defs/")
	answer := maps.Clone(as[object](as[object](output["$defs"])[name]))
	properties := maps.Clone(as[object](answer["properties"]))
	properties["replayed"] = object{
		"const": true, "description": "This is the stored answer of an earlier call that was the same, and nothing was done again.",
	}
	if b.present != nil {
		for name, record := range as[object](answer["properties"]) {
			now := maps.Clone(as[object](record))
			now["description"] = "The record as it is now."
			properties["now"] = now
			b.forms.members["now"] = b.forms.member(name)
		}
	}
	delete(output, "$ref")
	maps.Copy(output, answer)
	output["properties"] = properties
}

// members says which arguments belong to which choice, if the operations take different ones. Most clients accept only a plain object as
// the schema of arguments, so it cannot say that.
func (b *built) members() string {
	var text strings.Builder
	for i, choice := range b.row.choices {
		var own []string
		for _, name := range b.operations[i].fields {
			everywhere := !slices.ContainsFunc(b.operations, func(o *operation) bool { return !slices.Contains(o.fields, name) })
			if everywhere {
				continue
			}
			if slices.Contains(b.operations[i].required, name) {
				name += " (required)"
			}
			own = append(own, name)
		}
		if own != nil {
			fmt.Fprintf(&text, " With %s: %s.", choice, strings.Join(own, ", "))
		}
	}
	if text.Len() > 0 {
		text.WriteString(" The other choices take none of these.")
	}
	return text.String()
}

// input is the schema of the arguments. It merges those of all operations; an argument is required if every operation requires it. The
// service checks the rest: most clients accept only a plain object.
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
	for name, schema := range properties {
		if agents[name] {
			properties[name] = agentSchema(as[object](schema)["description"])
		}
	}
	if schema, ok := properties["page"].(object); ok {
		schema = maps.Clone(schema)
		delete(schema, "maximum") // next_page of an answer that was cut is a large number
		properties["page"] = schema
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
