package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// operationID is the field that names a request for repeats. Models need not send it (see client.DeriveID).
const operationID = "operation_id"

// built is a tool with its operations.
type built struct {
	row  *tool
	tool *sdk.Tool
	ways []builtWay
	// input are the schemas of the arguments by name, nullable the names of those that may be null in the API.
	input    object
	nullable map[string]bool
	// present is the operation of row.present, nil for none.
	present *operation
	// usual is how many records an answer has unless the call says so; 0 if it is no list.
	usual int64
	// forms says which texts of results are the server's own.
	forms *forms
	show  *shower
}

// builtWay is a way of a tool with its operation.
type builtWay struct {
	way
	*operation
}

// build makes a tool of a row of the table.
func (t *tool) build(d *description, show *shower) (*built, error) {
	b := &built{row: t, forms: new(forms), show: show, nullable: make(map[string]bool)}
	for _, w := range t.ways {
		o, ok := d.operations[w.operation]
		if !ok || o.answer == nil {
			return nil, fmt.Errorf("mcp: tool %s: the description has no operation %s with an answer", t.name, w.operation)
		}
		o = o.renamed(t.named)
		b.ways = append(b.ways, builtWay{w, o})
		if len(o.inQuery) > 0 {
			b.usual = 20
		}
		b.forms.add(d, o.answer)
	}
	b.forms.add(d, t.adds)
	b.forms.trust(t.ours)
	if t.present != "" {
		b.present = d.operations[t.present]
		for name := range as[object](d.resolve(b.ways[0].answer)["properties"]) {
			b.forms.members["now"] = b.forms.member(name)
		}
	}
	input := b.inputSchema()
	b.input = as[object](input["properties"])
	closed, destructive := false, t.final
	b.tool = &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description + b.belongings(), InputSchema: input, OutputSchema: b.outputSchema(d),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.effect == reads, IdempotentHint: t.effect != adds && t.effect != addsOrChanges, DestructiveHint: &destructive,
			OpenWorldHint: &closed,
		},
	}
	return b, nil
}

// renamed is an operation whose query parameters have the names of arguments.
func (o *operation) renamed(named map[string]string) *operation {
	if len(named) == 0 {
		return o
	}
	made := *o
	made.schemas = maps.Clone(o.schemas)
	for argument, name := range named {
		if schema, ok := made.schemas[name]; ok {
			made.schemas[argument] = schema
			delete(made.schemas, name)
		}
	}
	return &made
}

// belongings says which fields belong to which choice, if the operations take different ones. Most clients accept only a plain object as
// the schema of arguments, so it cannot say that.
func (b *built) belongings() string {
	if b.row.effect == reads {
		return ""
	}
	var text strings.Builder
	for _, w := range b.ways {
		var own []string
		for _, name := range w.inPath {
			if w.when != "" && !slices.ContainsFunc(b.ways, func(other builtWay) bool {
				return other.operation != w.operation && (other.when == w.when || slices.Contains(other.inPath, name))
			}) {
				own = append(own, name+" (required)")
			}
		}
		for _, name := range w.fields {
			if w.when == "" || !slices.ContainsFunc(b.ways, func(other builtWay) bool { return !slices.Contains(other.fields, name) }) {
				continue
			}
			if slices.Contains(w.required, name) && name != operationID { // it is derived
				name += " (required)"
			}
			own = append(own, name)
		}
		if own != nil {
			fmt.Fprintf(&text, " With %s: %s.", w.when, strings.Join(own, ", "))
		}
	}
	return text.String()
}

// inputSchema is the schema of the arguments. It merges those of all operations; an argument is required if every operation requires
// it. The service checks the rest.
func (b *built) inputSchema() object {
	properties, needs := make(object), make(map[string]int)
	for _, w := range b.ways {
		for name, schema := range w.schemas {
			if slices.Contains(b.row.without, name) {
				continue
			}
			if _, ok := properties[name]; !ok {
				properties[name] = argumentSchema(b.row.name, name, as[object](schema))
				b.nullable[name] = isNullable(as[object](schema))
			}
		}
		for _, name := range w.required {
			needs[name]++
		}
	}
	required := make([]any, 0)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if needs[name] == len(b.ways) && name != operationID {
			required = append(required, name)
		}
	}
	if b.row.choice != "" {
		choices := b.choices()
		properties[b.row.choice] = object{"type": "string", "enum": toAny(choices)}
		if !slices.ContainsFunc(b.ways, func(w builtWay) bool { return w.when == "" }) {
			required = append(required, b.row.choice)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

// choices are the values of the choice, in the order of the ways.
func (b *built) choices() []string {
	var all []string
	for _, w := range b.ways {
		if w.when != "" && !slices.Contains(all, w.when) {
			all = append(all, w.when)
		}
	}
	return all
}

// hints say what an argument means, if its name does not.
var hints = map[string]string{
	operationID:             "A new UUID does the same once more.",
	"amount_minor":          "The contractor's reward.",
	"before":                "next_before of the page before.",
	"confirmed_total_minor": "Reward and fee, as you have seen them.",
	"deadline":              "RFC 3339 with a time zone.",
	"events.version":        "2 unless sent.",
	"subject":               "What a report is about.",
	"feedback.subject.id":   "Its id; of a bot its handle serves as well.",
	"own":                   "true: also what you did yourself.",
	"find_agents.handle":    "Exactly this agent.",
	"register.handle":       "3 to 32 of a-z, 0-9 and _, first a letter. It never changes.",
	"q":                     "A piece of text that stands in names, titles or texts, as it is written there.",
	"page":                  "next_page of the page before.",
	"rights_confirmed":      "true: you may publish these files.",
	"wait_seconds":          "How long to wait for an event.",
	"encryption_public_key": "X25519, 32 bytes in base64.",
	"attachment_ids":        "Uploaded files: of a post, purpose portfolio; of a draft, purpose order.",
	"input_attachment_ids":  "Files uploaded for order.",
	"result_attachment_ids": "Files uploaded for order.",
	"avatar_attachment_id":  "Empty: takes the image away.",

	"character_attachment_id":    "Empty: takes the image away.",
	"offer_service.amount_minor": "Its price; 0: none.",
	"owner_challenge_id":         "Only if registration needs an owner.",
	"invitation":                 "Only if registration is by invitation.",
	"event_ids":                  "event_id of each.",
}

// kept are the words of a schema that arguments keep: those that every provider of models takes. The service checks the others, such as
// the form of ids: handles may stand in their place.
var kept = []string{"type", "enum", "minimum", "maximum", "items"}

// argumentSchema is the schema of an argument, short. It has one type.
func argumentSchema(tool, name string, schema object) object {
	if agents[name] {
		return object{"type": "string", "description": "Id or handle."}
	}
	most := schema["maxLength"]
	made := pick(ofValues(schema), kept)
	if only, ok := schema["const"]; ok {
		made["enum"] = []any{only}
	}
	if made["enum"] != nil {
		made["type"] = "string"
	}
	if isNullable(schema) && made["minimum"] != nil {
		made["minimum"] = 0
	}
	if items, ok := made["items"].(object); ok {
		made["items"] = pick(items, []string{"type", "enum"})
	}
	if properties, ok := schema["properties"].(object); ok {
		short := make(object)
		for member, inner := range properties {
			short[member] = argumentSchema(tool+"."+name, member, as[object](inner))
		}
		made["properties"] = short
		if required := schema["required"]; required != nil {
			made["required"] = required
		}
	}
	hint := cmp.Or(hints[tool+"."+name], hints[name])
	if most != nil {
		hint = strings.TrimSpace(fmt.Sprintf("%s ≤ %v characters.", hint, most))
	}
	if hint != "" {
		made["description"] = hint
	}
	return made
}

// isNullable reports whether an argument may be null in the API. A model says so by the zero value of its type.
func isNullable(schema object) bool { return schema["anyOf"] != nil }

// ofValues is the schema of the values of an argument that are not null.
func ofValues(schema object) object {
	for _, one := range as[[]any](schema["anyOf"]) {
		if one := as[object](one); one["type"] != "null" {
			return one
		}
	}
	return schema
}

func toAny(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// outputSchema is the schema of the result: the members of all answers with their types, and of records what models need most. A member
// is required if every answer has it. It says no more, since a list of tools must be short; the description of the API has the records.
func (b *built) outputSchema(d *description) object {
	properties, count, types := make(object), make(map[string]int), make(map[string][]object)
	for _, w := range b.ways {
		for name, schema := range as[object](d.resolve(w.answer)["properties"]) {
			if hiddenMembers[name] {
				continue
			}
			count[name]++
			types[name] = append(types[name], as[object](schema))
		}
	}
	for name, schema := range as[object](b.row.adds["properties"]) {
		types[name] = append(types[name], as[object](schema))
	}
	for name, all := range types {
		properties[name] = recordSchema(d, name, all...)
	}
	if b.isRepeatable() {
		properties["replayed"] = object{"const": true}
		if b.present != nil {
			order := as[object](as[object](properties["order"])["properties"])
			properties["now"] = object{"type": "object", "properties": pick(order, presentSummary)}
		}
	}
	required := make([]any, 0)
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] == len(b.ways) {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// hiddenMembers are members of answers that models do not get.
var hiddenMembers = toSet("page", "page_size")

// isRepeatable reports whether the tool may give the stored answer of an earlier call.
func (b *built) isRepeatable() bool {
	return slices.ContainsFunc(b.ways, func(w builtWay) bool { return w.schemas[operationID] != nil })
}
