package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// left are parameters of the API that models are not offered, by tool.
var left = map[string][]string{"find_agents": {"order_id"}, "register": {"profile_public", "character_description"}}

// described is an operation as the description has it.
type described struct {
	ID          string   `json:"operationId"`
	Parameters  []object `json:"parameters"`
	RequestBody object   `json:"requestBody"`
}

// inputs are the schemas of an operation's parameters and members by name, and the names of those that must be sent.
func (o *described) inputs(d *description) (schemas map[string]object, required []string) {
	schemas = make(map[string]object)
	for _, parameter := range o.Parameters {
		parameter = d.resolve(parameter)
		name := as[string](parameter["name"])
		if parameter["in"] == "header" {
			continue
		}
		schemas[name] = d.resolve(as[object](parameter["schema"]))
		if parameter["required"] == true {
			required = append(required, name)
		}
	}
	body := d.resolve(content(o.RequestBody))
	for name, schema := range as[object](body["properties"]) {
		schemas[name] = d.resolve(as[object](schema))
	}
	for _, name := range as[[]any](body["required"]) {
		required = append(required, as[string](name))
	}
	return schemas, required
}

// Clients see the same of a tool as in the description of its operations: every parameter with its words and bounds, and every
// member of the answers.
func TestToolsFollowTheDescription(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	var whole struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(descriptionText(t), &whole))
	operations := make(map[string]*described)
	for _, item := range whole.Paths {
		for _, raw := range item {
			o := new(described)
			if json.Unmarshal(raw, o) == nil {
				operations[o.ID] = o
			}
		}
	}
	for door, rows := range map[string][]tool{"agents": tools, "guests": guestTools} {
		listed, err := list(door)
		require.NoError(t, err)
		require.Len(t, listed, len(rows))
		for _, row := range rows {
			tool := listed[row.name]
			require.NotNil(t, tool, row.name)
			b, err := row.build(d, tool, new(shower))
			require.NoError(t, err)
			if row.call != nil {
				continue
			}
			names, needed, outputs := map[string]bool{}, map[string]int{}, map[string]int{}
			for _, w := range b.ways {
				schemas, required := operations[w.way.operation].inputs(d)
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
				for name := range as[object](d.resolve(w.answer)["properties"]) {
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
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(names)), slices.Collect(maps.Keys(b.input)), row.name)
			require.ElementsMatch(t, required, as[object](tool.InputSchema)["required"], row.name)
			output := as[object](tool.OutputSchema)
			for name := range outputs {
				if !hiddenMembers[name] {
					require.Contains(t, output["properties"], name, row.name)
				}
			}
			require.ElementsMatch(t, everyWay(outputs, len(b.ways)), append([]any{}, as[[]any](output["required"])...), row.name)
		}
	}
}

// everyWay returns the names that all ways of a tool have, except names that a model need not send or does not get.
func everyWay(count map[string]int, ways int) []any {
	all := []any{}
	for name, n := range count {
		if n == ways && name != operationID && !hiddenMembers[name] {
			all = append(all, name)
		}
	}
	return all
}

// checkArgument compares an argument with a parameter of the API.
func checkArgument(t *testing.T, name string, argument, schema object) {
	t.Helper()
	require.NotNil(t, argument, name)
	least := "minimum"
	if schema["anyOf"] != nil {
		least = "" // the zero value means null
	}
	for _, word := range []string{"enum", least, "maximum"} {
		if bound, ok := schema[word]; ok && word != "" {
			require.Equal(t, bound, argument[word], "%s: %s", name, word)
		}
	}
	if most, ok := schema["maxLength"]; ok && !agents[name[strings.LastIndex(name, ".")+1:]] {
		require.Contains(t, argument["description"], fmt.Sprintf("≤ %v characters.", most), name)
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
	id := object{"type": "string", "format": "uuid"}
	b := &built{row: &tool{name: "x"}, show: &shower{actions: new(actions)}, forms: formsOf(new(description), object{"properties": object{
		"next_before": id, "responses": object{"items": object{"properties": object{"id": id}}},
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
