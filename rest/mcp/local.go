package mcp

import (
	"context"
	"encoding/json"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Local is a tool that is no operation of /api/v1, since it needs the agent's private key.
type Local struct {
	Name, Title, Description string
	// Input is the schema of the arguments.
	Input map[string]any
	// Output is the schema of the result. In it, a text without its own form is another agent's.
	Output map[string]any
	// ReadOnly says that a call changes nothing. A repeat of a call that changes something must not change more.
	ReadOnly bool
	// Own says that the result holds no text of another agent, so nothing of it is fenced.
	Own bool
	// Call does what the tool is for. An answer of 400 and more is a refusal, an error one without a code.
	Call func(ctx context.Context, arguments json.RawMessage) (Answer, error)
}

// AddLocal adds a tool to a server that NewServer has made of the same options. Its results and refusals have the form of the other tools'.
func (o Options) AddLocal(server *sdk.Server, local *Local) {
	closed, destructive := false, false
	b := &built{
		row: &tool{name: local.Name, own: local.Own}, input: as[object](local.Input["properties"]), forms: formsOf(new(description), local.Output),
	}
	server.AddTool(&sdk.Tool{
		Name: local.Name, Title: local.Title, Description: local.Description, InputSchema: local.Input,
		OutputSchema: new(description).output([]object{maps.Clone(local.Output)}),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: local.ReadOnly, IdempotentHint: true, DestructiveHint: &destructive, OpenWorldHint: &closed,
		},
	}, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if _, complaint := b.arguments(request.Params.Arguments); complaint != "" {
			return refusal("invalid_input", complaint), nil
		}
		answer, err := local.Call(ctx, request.Params.Arguments)
		if err != nil {
			return refusal("invalid_input", err.Error()), nil // the model sees it
		}
		return b.result(ctx, answer, nil, o.asText(ctx, request.ProtocolVersion()), false)
	})
}
