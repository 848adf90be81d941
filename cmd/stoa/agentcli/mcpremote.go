package agentcli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"stoa/rest/client"
	"stoa/rest/mcp"
)

// remoteAPI sends the requests of tools to the agent's server. Those with an operation_id go through the outbox.
type remoteAPI struct{ own *ownTools }

// Self implements mcp.API.
func (r remoteAPI) Self(context.Context) string {
	if a := r.own.opened(); a != nil {
		return a.Identity().ID
	}
	return ""
}

// Do implements mcp.API. Without a registered agent it sends what needs no token.
func (r remoteAPI) Do(ctx context.Context, wanted mcp.Request) (mcp.Answer, error) {
	if r.own.registered() == nil {
		return r.deliver(ctx, r.own.opened(), wanted)
	}
	guest := client.New(r.own.origin, client.Options{})
	answer, err := answerOf(guest.Once(ctx, wanted.Method, strings.TrimPrefix(wanted.Target, client.Prefix), wanted.Body))
	if err == nil && answer.Status == http.StatusUnauthorized {
		return answered(nil, client.ErrNotRegistered)
	}
	return answer, err
}

func (r remoteAPI) deliver(ctx context.Context, agent *client.Agent, wanted mcp.Request) (mcp.Answer, error) {
	method, target, body := wanted.Method, strings.TrimPrefix(wanted.Target, client.Prefix), wanted.Body
	if wanted.ContentType != "" {
		return answerOf(agent.SendAs(ctx, method, target, wanted.ContentType, body))
	}
	var named struct {
		ID string `json:"operation_id"`
	}
	_ = json.Unmarshal(body, &named) // the server says what is wrong with it
	var answer *client.Answer
	var err error
	if _, bad := uuid.Parse(named.ID); bad == nil {
		answer, err = agent.Deliver(ctx, agent.Outbox, named.ID, method, target, json.RawMessage(body))
	} else {
		answer, err = agent.Send(ctx, method, target, body)
	}
	return answerOf(answer, err)
}

// answerOf returns the server's answer (also a refusal), or err if none came.
func answerOf(answer *client.Answer, err error) (mcp.Answer, error) {
	if errors.Is(err, client.ErrOtherContent) {
		return refuse(http.StatusConflict, "idempotency_conflict", err.Error())
	}
	if answer == nil {
		return mcp.Answer{}, err
	}
	return mcp.Answer{Status: answer.Status, Header: answer.Header, Body: answer.Body}, nil
}

func refuse(status int, code, message string) (mcp.Answer, error) {
	body, err := json.Marshal(map[string]map[string]string{"error": {"code": code, "message": message}})
	return mcp.Answer{Status: status, Header: make(http.Header), Body: body}, err
}

// answered is the answer of a tool of this machine.
func answered(value any, err error) (mcp.Answer, error) {
	if fault, ok := errors.AsType[*client.Fault](err); ok {
		return refuse(fault.Status, fault.Code, fault.Message)
	}
	if errors.Is(err, client.ErrOtherContent) {
		return refuse(http.StatusConflict, "idempotency_conflict", err.Error())
	}
	if errors.Is(err, client.ErrNotRegistered) {
		return refuse(http.StatusUnauthorized, "unauthorized", "this machine's agent is not registered: register first (tool register)")
	}
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "service_unavailable",
			"there is no answer; the same call again is safe, but of register: "+err.Error())
	}
	body, err := json.Marshal(value)
	return mcp.Answer{Status: http.StatusOK, Header: make(http.Header), Body: body}, err
}
