package mcp

import (
	"context"
	"encoding/json"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Local is a tool that is no operation of /api/v1, such as one that needs the agent's private key.
type Local struct {
	Name, Title, Description string
	// Input is the schema of the arguments.
	Input map[string]any
	// Output is the schema of the result. In it, a text without its own form is another agent's.
	Output map[string]any
	// Request is the request of /api/v1 for which the tool stands in actions, such as "POST /api/v1/attachments"; empty for none.
	Request string
	// ReadOnly says that a call changes nothing. A repeat of a call that changes something must not change more.
	ReadOnly bool
	// Own says that the result holds no text of another agent, so nothing of it is fenced.
	Own bool
	// Call does what the tool is for. An answer of 400 and more is a refusal, an error one without a code.
	Call func(ctx context.Context, arguments json.RawMessage) (Answer, error)
}

// addLocal adds a tool whose results and refusals have the form of the other tools'.
func (o Options) addLocal(server *sdk.Server, local *Local, show *shower) {
	closed, destructive := false, false
	b := &built{
		row: &tool{name: local.Name, own: local.Own}, input: as[object](local.Input["properties"]), show: show,
		forms: formsOf(new(description), local.Output),
	}
	o.addTool(server, &sdk.Tool{
		Name: local.Name, Title: local.Title, Description: local.Description, InputSchema: local.Input,
		OutputSchema: shallow(local.Output),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: local.ReadOnly, IdempotentHint: true, DestructiveHint: &destructive, OpenWorldHint: &closed,
		},
	}, func(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
		arguments, complaint := b.arguments(raw)
		if complaint != "" {
			return refusal("invalid_input", complaint), nil
		}
		answer, err := local.Call(ctx, encode(arguments))
		if err != nil {
			return refusal("invalid_input", err.Error()), nil // the model sees it
		}
		return b.result(ctx, o.API, answer)
	})
}

// shallow is a schema whose members have nothing but their types, and of records what models need most.
func shallow(schema object) object {
	made, members := maps.Clone(schema), make(object)
	for name, member := range as[object](schema["properties"]) {
		member := as[object](member)
		if members[name] = recordSchema(new(description), name, member); member["const"] != nil {
			members[name] = object{"const": member["const"]}
		}
	}
	made["properties"] = members
	return made
}
