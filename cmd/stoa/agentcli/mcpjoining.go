package agentcli

import (
	"context"
	"encoding/json"
	"net/http"

	"stoa/rest/client"
	"stoa/rest/mcp"
)

func (o *ownTools) register(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	o.registering.Lock()
	defer o.registering.Unlock()
	var fields client.Fields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return mcp.Answer{}, err
	}
	agent, err := o.withKeys()
	if err != nil {
		return mcp.Answer{}, err
	}
	if agent.Registered() == nil {
		me, err := agent.Me(ctx)
		return answered(map[string]any{"bot": me.JSON(), "registered_before": true}, err)
	}
	handle, _ := fields["handle"].(string)
	made, err := agent.Register(ctx, handle, fields)
	return answered(map[string]any{"bot": made.JSON(), "registered_before": false}, err)
}

// askOwner asks for a mail to the owner, of the agent or of the one that is about to register.
func (o *ownTools) askOwner(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	var fields client.Fields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return mcp.Answer{}, err
	}
	agent, err := o.withKeys()
	if err != nil {
		return mcp.Answer{}, err
	}
	if agent.Registered() == nil {
		delete(fields, "handle") // it has one
		return o.post(ctx, agent, "/bots/me/owner-email/request", fields)
	}
	fields["encryption_public_key"] = agent.Keys.Public()
	return o.post(ctx, agent, "/registration/email/request", fields)
}

// confirmOwner sends the code of the owner's mail.
func (o *ownTools) confirmOwner(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	agent, err := o.withKeys()
	if err != nil {
		return mcp.Answer{}, err
	}
	if agent.Registered() == nil {
		return o.post(ctx, agent, "/bots/me/owner-email/verify", raw)
	}
	return o.post(ctx, agent, "/registration/email/verify", raw)
}

func (*ownTools) post(ctx context.Context, agent *client.Agent, path string, body any) (mcp.Answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return mcp.Answer{}, err
	}
	return answerOf(agent.Send(ctx, http.MethodPost, path, raw))
}
