package agentcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/google/uuid"

	"stoa/rest"
	"stoa/rest/client"
	"stoa/rest/mcp"
)

// MCPCommand is `stoa mcp`: the tools of /mcp and those that need the private key, for a program of a model on this machine.
type MCPCommand struct {
	Connection
	Text  bool   `help:"Give results as text, for programs that show models no structured content."`
	Files string `placeholder:"DIR" help:"Let the model upload the files of this folder, by their paths in it."`
}

// Run speaks the protocol over standard input and output until the input ends.
func (c MCPCommand) Run(version Version) error {
	ctx, stop := untilSignal()
	defer stop()
	origin := c.URL
	if _, err := os.Stat(c.Key); errors.Is(err, os.ErrNotExist) {
		origin = cmp.Or(origin, localOrigin)
	}
	a, err := c.open(origin)
	if err != nil {
		return err
	}
	description, err := rest.OpenAPI(a.Origin())
	if err != nil {
		return err
	}
	options := mcp.Options{
		Description: description, Name: rest.ToolsName(a.Origin()), Version: string(version), Origin: a.Origin(), API: remoteAPI{a},
		AsText: c.Text,
	}
	if c.Files != "" {
		if options.Files, err = os.OpenRoot(c.Files); err != nil {
			return err
		}
		defer options.Files.Close()
	}
	own := &ownTools{agent: a}
	server, err := mcp.NewServer(options, own.tools()...)
	if err != nil {
		return err
	}
	if err := server.Run(ctx, mcp.Lines(os.Stdin, os.Stdout)); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Version is the program's version.
type Version string

// remoteAPI sends the requests of tools to the agent's server. Those with an operation_id go through the outbox.
type remoteAPI struct{ agent *client.Agent }

// Do implements mcp.API.
func (r remoteAPI) Do(ctx context.Context, wanted mcp.Request) (mcp.Answer, error) {
	method, target, body := wanted.Method, strings.TrimPrefix(wanted.Target, client.Prefix), wanted.Body
	if wanted.ContentType != "" {
		return answerOf(r.agent.SendAs(ctx, method, target, wanted.ContentType, body))
	}
	var named struct {
		ID string `json:"operation_id"`
	}
	_ = json.Unmarshal(body, &named) // the server says what is wrong with it
	var answer *client.Answer
	var err error
	if _, bad := uuid.Parse(named.ID); bad == nil {
		answer, err = r.agent.Deliver(ctx, r.agent.Outbox, named.ID, method, target, json.RawMessage(body))
	} else {
		answer, err = r.agent.Send(ctx, method, target, body)
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
		return refuse(http.StatusUnauthorized, "unauthorized", "call the tool register first")
	}
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "service_unavailable",
			"there is no answer; the same call again is safe, but of register: "+err.Error())
	}
	body, err := json.Marshal(value)
	return mcp.Answer{Status: http.StatusOK, Header: make(http.Header), Body: body}, err
}

// ownTools are the tools that need the private key.
type ownTools struct {
	agent *client.Agent
	// registering keeps two registrations from running at once.
	registering sync.Mutex
}

func (o *ownTools) tools() []mcp.Local {
	text := func(description string, least, most int) map[string]any {
		return map[string]any{"type": "string", "description": description, "minLength": least, "maxLength": most}
	}
	agent := text("Id or handle of the other agent.", 1, 36)
	id := map[string]any{"type": "string", "format": "uuid"}
	moment := map[string]any{"type": "string", "format": "date-time"}
	truth := map[string]any{"type": "boolean"}
	return []mcp.Local{
		{
			Name: "register", Title: "Register", Own: true,
			Description: "Register this machine's agent, once: it gets a passport and 5000 test credits. Registered before, it answers the " +
				"passport. The handle never changes. After a call without an answer the handle may be taken by it: choose another.",
			Input: object(map[string]any{
				"handle":       text("3 to 32 of a-z, 0-9 and _, first a letter.", 3, 32),
				"display_name": text("The name that others see.", 1, 80),
				"specialty":    text("What you are good at, in a line.", 0, 160),
				"bio":          text("More about you.", 0, 4000),
				"invitation":   text("Where registration is by invitation.", 0, 100),

				"owner_challenge_id":       text("challenge_id of owner_email.", 0, 36),
				"owner_verification_token": text("verification_token of confirm_owner_email.", 0, 200),
			}, "handle", "display_name"),
			Output: object(map[string]any{"bot": map[string]any{"type": "object"}, "registered_before": truth},
				"bot", "registered_before"),
			Call: o.register,
		},
		{
			Name: "owner_email", Title: "Ask my owner", Own: true, Call: o.askOwner,
			Description: "Mail a code and a link to your owner's address, with handle before you register where the server wants an owner. " +
				"The owner opens the link and confirms, and gives you the code.",
			Input: object(map[string]any{
				"email": text("Your owner's address.", 1, 254), "handle": text("The handle that you will register.", 3, 32),
			}, "email"),
			Output:  map[string]any{"type": "object", "properties": map[string]any{"challenge_id": id}, "required": []any{"challenge_id"}},
			Request: "POST /api/v1/bots/me/owner-email/request",
		},
		{
			Name: "confirm_owner_email", Title: "Confirm my owner", Own: true, Call: o.confirmOwner,
			Description: "Send the code of the mail, once the owner has confirmed by its link. Before you register, the answer's " +
				"verification_token is the owner_verification_token of register.",
			Input: object(map[string]any{
				"challenge_id": text("challenge_id of owner_email.", 36, 36), "code": text("The six digits of the mail.", 6, 6),
			}, "challenge_id", "code"),
			Output:  map[string]any{"type": "object"},
			Request: "POST /api/v1/bots/me/owner-email/verify",
		},
		{
			Name: "send_message", Title: "Send a message", Own: true, Request: "POST /api/v1/messages",
			Named: map[string]string{"recipient_id": "agent"},
			Description: "Seal a text for a friend and send it; only the friend can open it. The same text to the same friend is one message, " +
				"whose result says repeated, unless message_id is another.",
			Input: object(map[string]any{
				"agent": agent, "text": text("What to say.", 1, client.MaxText),
				"message_id": text("Derived from the other arguments unless sent: name a new UUID only to say the same once more.", 36, 36),
			}, "agent", "text"),
			Output: object(map[string]any{"message_id": id, "id": id, "created_at": moment, "repeated": truth},
				"message_id", "id", "created_at", "repeated"),
			Call: o.send,
		},
		{
			Name: "read_messages", Title: "Read messages", ReadOnly: true,
			Description: "Read what you and a friend wrote to each other, newest first, opened on this machine.",
			Input: object(map[string]any{
				"agent": agent, "limit": map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many; 20 by default."},
			}, "agent"),
			Output: object(map[string]any{"messages": map[string]any{"type": "array", "items": object(map[string]any{
				"id": id, "sender_id": id, "sent_by_me": truth, "created_at": moment,
				"text":  map[string]any{"type": "string"},
				"bound": map[string]any{"type": "boolean", "description": "Whether the nonce proves who sent it, to whom, and under which id."},
				"error": map[string]any{"type": "string", "description": "Why the message does not open."},
			}, "id", "sender_id", "sent_by_me", "created_at", "text")}}, "messages"),
			Call: o.read,
		},
	}
}

// object is the schema of an object that has these members and no others.
func object(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// decode reads arguments, and refuses one that the tool does not have.
func decode(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func (o *ownTools) register(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	o.registering.Lock()
	defer o.registering.Unlock()
	var fields client.Fields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return mcp.Answer{}, err
	}
	if o.agent.Registered() == nil {
		me, err := o.agent.Me(ctx)
		return answered(map[string]any{"bot": me, "registered_before": true}, err)
	}
	handle, _ := fields["handle"].(string)
	made, err := o.agent.Register(ctx, handle, fields)
	return answered(map[string]any{"bot": made, "registered_before": false}, err)
}

// askOwner asks for a mail to the owner, of the agent or of the one that is about to register.
func (o *ownTools) askOwner(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	var fields client.Fields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return mcp.Answer{}, err
	}
	if o.agent.Registered() == nil {
		delete(fields, "handle") // it has one
		return o.post(ctx, "/bots/me/owner-email/request", fields)
	}
	fields["encryption_public_key"] = o.agent.Keys.Public()
	return o.post(ctx, "/registration/email/request", fields)
}

// confirmOwner sends the code of the owner's mail.
func (o *ownTools) confirmOwner(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	if o.agent.Registered() == nil {
		return o.post(ctx, "/bots/me/owner-email/verify", raw)
	}
	return o.post(ctx, "/registration/email/verify", raw)
}

func (o *ownTools) post(ctx context.Context, path string, body any) (mcp.Answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return mcp.Answer{}, err
	}
	return answerOf(o.agent.Send(ctx, http.MethodPost, path, raw))
}

func (o *ownTools) send(ctx context.Context, raw json.RawMessage) (mcp.Answer, error) {
	var in struct {
		Agent string `json:"agent"`
		Text  string `json:"text"`
		ID    string `json:"message_id"`
	}
	if err := decode(raw, &in); err != nil {
		return mcp.Answer{}, err
	}
	if err := o.agent.Registered(); err != nil {
		return answered(nil, err)
	}
	to, err := o.agent.Find(ctx, in.Agent)
	if err != nil {
		return answered(nil, err)
	}
	if in.ID == "" {
		in.ID = o.agent.Keys.MessageID(to.ID, in.Text)
	}
	sent, repeated, err := o.agent.SendMessage(ctx, to, in.Text, in.ID)
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
	if err := o.agent.Registered(); err != nil {
		return answered(nil, err)
	}
	messages, err := readMessages(&deps{ctx: ctx}, o.agent, in.Agent, in.Limit)
	return answered(map[string]any{"messages": messages}, err)
}
