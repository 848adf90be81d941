package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/openapi"
)

// left are parameters of the API that models are not offered, by tool.
var left = map[string][]string{"find_agents": {"order_id"}, "register": {"profile_public", "character_description"}}

// inputs are the schemas of an operation's parameters and members by name, and the names of those that must be sent.
func inputs(d *openapi.Description, o *openapi.Operation) (schemas members, required []string) {
	schemas = make(members)
	for _, parameter := range o.Parameters {
		if parameter.In == "header" {
			continue
		}
		schemas[parameter.Name] = d.Follow(parameter.Schema)
		if parameter.Required {
			required = append(required, parameter.Name)
		}
	}
	body := d.Follow(o.RequestBody.JSON())
	if body == nil {
		return schemas, required
	}
	for name, schema := range body.Properties {
		schemas[name] = d.Follow(schema)
	}
	return schemas, append(required, body.Required...)
}

// Clients see the same of a tool as in the description of its operations: every parameter with its words and bounds, and every
// member of the answers.
func TestToolsFollowTheDescription(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	for door, rows := range map[string][]tool{"agents": tools, "guests": guestTools} {
		listed := list(door)
		require.Len(t, listed, len(rows))
		for _, row := range rows {
			tool := listed[row.name]
			require.NotNil(t, tool, row.name)
			b := row.build(d, tool, new(shower))
			if row.call != nil {
				continue
			}
			names, needed, outputs := map[string]bool{}, map[string]int{}, map[string]int{}
			for _, w := range b.ways {
				described := d.Operation(w.way.operation)
				schemas, required := inputs(d, described)
				for name, schema := range schemas {
					argument := name
					for other, parameter := range row.named {
						if parameter == name {
							argument = other
						}
					}
					if names[argument] || slices.Contains(left[row.name], name) {
						continue // the first way that has an argument describes it
					}
					names[argument] = true
					checkArgument(t, row.name+"."+argument, as[object](b.input[argument]), schema)
				}
				for _, name := range required {
					needed[name]++
				}
				for name := range d.Follow(described.Success()).Properties {
					outputs[name]++
				}
			}
			required := everyWay(needed, len(b.ways))
			if row.choice != "" {
				names[row.choice] = true
				require.ElementsMatch(t, b.choices(), as[object](b.input[row.choice])["enum"], row.name)
				if !slices.ContainsFunc(b.ways, func(w builtWay) bool { return w.when == "" }) {
					required = append(required, row.choice)
				}
				checkNeeds(t, d, b, required)
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(names)), slices.Collect(maps.Keys(b.input)), row.name)
			require.ElementsMatch(t, required, as[object](tool.InputSchema)["required"], row.name)
			output := as[object](tool.OutputSchema)
			for name := range outputs {
				if !slices.Contains(hiddenMembers, name) {
					require.Contains(t, output["properties"], name, row.name)
				}
			}
			require.ElementsMatch(t, everyWay(outputs, len(b.ways)), append([]any{}, as[[]any](output["required"])...), row.name)
		}
	}
}

// checkNeeds compares the sentences of a tool that begin with "With" with what the operations of that choice require.
func checkNeeds(t *testing.T, d *openapi.Description, b *built, everywhere []any) {
	t.Helper()
	for _, choice := range b.choices() {
		_, sentence, said := strings.Cut(b.tool.Description, "With "+choice+": ")
		sentence, _, _ = strings.Cut(sentence, ".")
		needed, ways := map[string]int{}, 0
		for _, w := range b.ways {
			if w.when != choice {
				continue
			}
			ways++
			_, required := inputs(d, d.Operation(w.way.operation))
			for _, name := range required {
				needed[name]++
			}
		}
		for _, name := range everyWay(needed, ways) {
			if said && !slices.Contains(everywhere, name) {
				require.Contains(t, sentence, name.(string)+" (required)", "%s with %s", b.row.name, choice)
			}
		}
	}
}

// everyWay returns the names that all ways of a tool have, except names that a model need not send or does not get.
func everyWay(count map[string]int, ways int) []any {
	all := []any{}
	for name, n := range count {
		if n == ways && name != operationID && !slices.Contains(hiddenMembers, name) {
			all = append(all, name)
		}
	}
	return all
}

// checkArgument compares an argument with a parameter of the API.
func checkArgument(t *testing.T, name string, argument object, schema *openapi.Schema) {
	t.Helper()
	require.NotNil(t, argument, name)
	if schema.Enum != nil {
		require.Equal(t, schema.Enum, argument["enum"], name)
	}
	if schema.Minimum != nil && schema.AnyOf == nil { // otherwise the zero value means null
		require.Equal(t, schema.Minimum, argument["minimum"], name)
	}
	if schema.Maximum != nil {
		require.Equal(t, schema.Maximum, argument["maximum"], name)
	}
	if schema.MaxLength > 0 && !slices.Contains(agents, name[strings.LastIndex(name, ".")+1:]) {
		require.Contains(t, argument["description"], fmt.Sprintf("≤ %d characters.", schema.MaxLength), name)
	}
}

// Every message is refused with a code or passed on as one object with the same members.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[]`, `{}`, ``, `{"id":1,"id":2,"jsonrpc":"2.0","method":"ping"}`, "null", `{"method":"x`,
		`{"jsonrpc":"2.0","ID":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"x"}}`,
	} {
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, raw, version string) {
		message, refused := ReadMessage([]byte(raw), version)
		if refused != nil {
			require.Contains(t, []int64{-32700, -32600, -32601, -32602, -32022}, refused.Code)
			require.True(t, json.Valid(ErrorAnswer(message.ID, refused)))
			return
		}
		if !message.Ignored {
			again, refused := ReadMessage(message.Raw, version)
			require.Nil(t, refused)
			require.JSONEq(t, string(message.Raw), string(again.Raw))
			require.Equal(t, string(message.ID), string(again.ID))
		}
	})
}

// A result fits; the omitted records of a list follow the last record in it.
func TestShapeFits(t *testing.T) {
	t.Parallel()
	response := object{"id": "01a20005-3279-7101-88e5-f352f236b427", "text": strings.Repeat(`"\`, 40<<10)}
	id := &openapi.Schema{Type: "string", Format: "uuid"}
	b := &built{row: &tool{name: "x"}, show: &shower{actions: new(actions)}, forms: formsOf(new(openapi.Description), &openapi.Schema{Properties: members{
		"next_before": id, "responses": {Items: &openapi.Schema{Properties: members{"id": id}}},
	}})}
	list := make([]any, 20)
	for i := range list {
		list[i] = response
	}
	raw, ok := b.shape(object{"responses": list, "next_before": nil}, "")
	require.True(t, ok)
	require.LessOrEqual(t, sizeOf(raw), maxResult)
	whole := as[object](decode(raw))
	require.Less(t, len(as[[]any](whole["responses"])), 20)
	require.Equal(t, response["id"], whole["next_before"])

	raw, ok = b.shape(object{"order": object{"reason": strings.Repeat("é", 1<<20)}}, "")
	require.True(t, ok)
	require.LessOrEqual(t, sizeOf(raw), maxResult)
	require.Contains(t, string(raw), "⟨1046576 more characters⟩")
	_, ok = b.shape(object{"ids": make([]any, 1<<20)}, "")
	require.False(t, ok)
}
