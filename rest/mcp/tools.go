package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolsFile has the tools as clients see them: description, arguments, results and hints. Arguments are named as in REST and described
// in the words that every provider of models takes (§4.11): one type each, no alternatives. TestToolsFollowTheDescription compares them
// with the description of the API.
//
//go:embed tools.json
var toolsFile []byte

// tool is a row of the table of tools: how the server carries out a call.
type tool struct {
	name string
	// ways are the operations of the description that it stands for. The first way that fits a call is taken.
	ways []way
	// choice is the argument that ways name in when; empty if none of them does.
	choice string
	// call carries out a call that is no request of one of the ways; nil if it is. An error is a refusal without a code.
	call func(ctx context.Context, o *Options, arguments json.RawMessage) (Answer, error)
	// answers is an operation whose answer call gives; empty for those of the ways.
	answers string
	// named are arguments that have another name than the parameter of the operation.
	named map[string]string
	// defaults are the values of query parameters that are sent unless the call names others. One that the operation does not have is
	// left out.
	defaults map[string]any
	// own says that the answer holds no text of another agent, so nothing of it is fenced.
	own bool
	// ours are the members of records whose texts the server or its operators write.
	ours []string
	// brief says that the record of the answer is a card as in lists.
	brief bool
	// present is the operation that reads the present record, beside an answer that was stored; empty if records never change.
	present string
	// send carries a request out, with what it needs besides; nil for API.Do.
	send func(ctx context.Context, o *Options, r Request) (Answer, error)
	// adds are members that send or call adds to the records of the answer, as a schema with the forms of their texts.
	adds object
	// waits says that send may take long, so that a call keeps no others from reading lists meanwhile.
	waits bool
}

// way is an operation of a tool. It fits a call if the choice is when, and the parameters of the path and needs are all given.
type way struct {
	operation string
	when      string
	needs     []string
}

// only is the one operation of a tool.
func only(operation string) []way { return []way{{operation: operation}} }

// built is a tool with its operations.
type built struct {
	row  *tool
	tool *sdk.Tool
	ways []builtWay
	// input are the schemas of the arguments by name, nullable the names of those that may be null in the API: a model says so by the zero
	// value of their type.
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

// build makes a tool of a row of the table and of what clients see of it.
func (t *tool) build(d *description, listed *sdk.Tool, show *shower) (*built, error) {
	b := &built{
		row: t, tool: listed, input: as[object](as[object](listed.InputSchema)["properties"]), nullable: make(map[string]bool),
		forms: new(forms), show: show,
	}
	for _, w := range t.ways {
		o, ok := d.operations[w.operation]
		if !ok || o.answer == nil {
			return nil, fmt.Errorf("mcp: tool %s: the description has no operation %s with an answer", t.name, w.operation)
		}
		b.ways = append(b.ways, builtWay{w, o})
		if len(o.inQuery) > 0 {
			b.usual = 20
		}
		for name, may := range o.nullable {
			b.nullable[name] = b.nullable[name] || may
		}
		b.forms.add(d, o.answer)
	}
	if t.answers != "" {
		b.forms.add(d, d.operations[t.answers].answer)
	}
	b.forms.add(d, t.adds)
	b.forms.trust(t.ours)
	if t.present != "" {
		b.present = d.operations[t.present]
		b.forms.members["now"] = b.forms.member("order")
	}
	return b, nil
}

// takes reports whether a way has an argument.
func (b *built) takes(w *builtWay, argument string) bool {
	return argument == b.row.choice || w.takes[b.parameter(argument)]
}

// parameter is the name that an argument has in the API.
func (b *built) parameter(argument string) string {
	if name, ok := b.row.named[argument]; ok {
		return name
	}
	return argument
}

// list reads what clients see of the tools of a door.
func list(door string) (map[string]*sdk.Tool, error) {
	var doors map[string][]*sdk.Tool
	if err := json.Unmarshal(toolsFile, &doors); err != nil {
		return nil, fmt.Errorf("mcp: tools.json: %w", err)
	}
	seen := make(map[string]*sdk.Tool)
	for _, one := range append(doors[door], doors["both"]...) {
		seen[one.Name] = one
	}
	return seen, nil
}
