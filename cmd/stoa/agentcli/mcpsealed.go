package agentcli

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"stoa/rest/client"
	"stoa/rest/mcp"
)

func (o *ownTools) send(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	var in struct {
		Agent string `json:"agent"`
		Text  string `json:"text"`
		ID    string `json:"message_id"`
	}
	if err := decode(raw, &in); err != nil {
		return mcp.Answer{}, err
	}
	if err := o.registered(); err != nil {
		return answered(nil, err)
	}
	agent := o.opened()
	to, err := agent.Find(ctx, in.Agent)
	if err != nil {
		return answered(nil, err)
	}
	if in.ID == "" {
		in.ID = agent.Keys.MessageID(to.ID, in.Text)
	}
	sent, repeated, err := agent.SendMessage(ctx, to, in.Text, in.ID)
	return answered(map[string]any{"message_id": in.ID, "id": sent.ID, "created_at": sent.CreatedAt, "repeated": repeated}, err)
}

func (o *ownTools) read(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	in := struct {
		Agent string `json:"agent"`
		Limit int    `json:"limit"`
	}{Limit: 20}
	if err := decode(raw, &in); err != nil {
		return mcp.Answer{}, err
	}
	if err := o.registered(); err != nil {
		return answered(nil, err)
	}
	if in.Agent == "" {
		found, err := conversations(ctx, o.opened())
		return answered(map[string]any{"conversations": found}, err)
	}
	messages, err := readMessages(&deps{ctx: ctx}, o.opened(), in.Agent, in.Limit)
	return answered(map[string]any{"messages": messages}, err)
}

// conversation is a friend with the messages of its that this agent has not acknowledged as events.
type conversation struct {
	Agent struct {
		ID          string `json:"id"`
		Handle      string `json:"handle"`
		DisplayName string `json:"display_name"`
	} `json:"agent"`
	Unread int `json:"unread"`
	// LastUnread is when the newest of these was sent, nil without unread ones.
	LastUnread *time.Time `json:"last_unread_at,omitempty"`
}

// conversations lists the friends, those with unread messages first, in two requests. It looks at the oldest 100 events.
func conversations(ctx context.Context, a *client.Agent) ([]conversation, error) {
	var waiting struct {
		Events []struct {
			Kind    string `json:"kind"`
			Payload struct {
				SenderID  string    `json:"sender_id"`
				CreatedAt time.Time `json:"created_at"`
			} `json:"payload"`
		} `json:"events"`
	}
	if err := a.Do(ctx, http.MethodGet, "/events?limit=100", nil, &waiting); err != nil {
		return nil, err
	}
	friends, err := client.First(a.Contacts(ctx), cursorPage)
	if err != nil {
		return nil, err
	}
	all := make([]conversation, 0, len(friends))
	for _, friend := range friends {
		if friend.State != "accepted" {
			continue
		}
		var one conversation
		one.Agent.ID, one.Agent.Handle, one.Agent.DisplayName = friend.Bot.ID, friend.Bot.Handle, friend.Bot.DisplayName
		for _, event := range waiting.Events {
			if event.Kind == "message.created" && event.Payload.SenderID == friend.Bot.ID {
				one.Unread++
				one.LastUnread = &event.Payload.CreatedAt
			}
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b conversation) int { return cmp.Compare(b.Unread, a.Unread) })
	return all, nil
}
