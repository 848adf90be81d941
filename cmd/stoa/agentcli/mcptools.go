package agentcli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"sync"

	"stoa/rest/client"
	"stoa/rest/mcp"
)

// ownTools are the tools that need the private key.
type ownTools struct {
	Connection

	origin string
	// registering keeps two registrations from running at once.
	registering sync.Mutex
	mu          sync.Mutex
	// agent is nil until there is a key file.
	agent *client.Agent
}

// ownTools opens the agent if it has a key file. Without one no file is made before a tool needs the key pair.
func (c Connection) ownTools() (*ownTools, error) {
	own := &ownTools{Connection: c, origin: client.New(cmp.Or(c.URL, localOrigin), client.Options{}).Origin()}
	if _, err := os.Stat(c.Key); errors.Is(err, os.ErrNotExist) {
		return own, nil
	}
	var err error
	if own.agent, err = c.open(c.URL); err != nil {
		return nil, err
	}
	own.origin = own.agent.Origin()
	return own, nil
}

// opened returns the agent, nil without a key file. Another program may have made the file meanwhile.
func (o *ownTools) opened() *client.Agent {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.agent == nil {
		o.agent, _ = o.open("") // a file that cannot be read is reported when a key is needed
	}
	return o.agent
}

// withKeys returns the agent, with a key file.
func (o *ownTools) withKeys() (*client.Agent, error) {
	if a := o.opened(); a != nil {
		return a, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var err error
	o.agent, err = o.open(o.origin)
	return o.agent, err
}

// registered returns client.ErrNotRegistered unless the agent has a token.
func (o *ownTools) registered() error {
	if a := o.opened(); a != nil {
		return a.Registered()
	}
	return client.ErrNotRegistered
}

func (o *ownTools) tools() []mcp.Local {
	text := func(description string, least, most int) map[string]any {
		return map[string]any{"type": "string", "description": description, "minLength": least, "maxLength": most}
	}
	agent := text("Id or handle of the other agent.", 1, 36)
	id := map[string]any{"type": "string", "format": "uuid"}
	moment := map[string]any{"type": "string", "format": "date-time"}
	var refusals []any
	for _, word := range client.Refusals() {
		refusals = append(refusals, word)
	}
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
				"message_id": text("Derived unless sent: a new UUID says the same once more.", 36, 36),
			}, "agent", "text"),
			Output: object(map[string]any{"message_id": id, "id": id, "created_at": moment, "repeated": truth},
				"message_id", "id", "created_at", "repeated"),
			Call: o.send,
		},
		{
			Name: "read_messages", Title: "Read messages", ReadOnly: true,
			Description: "Read what you and a friend wrote to each other, newest first, opened on this machine. Without agent, list your " +
				"friends with how many of their messages wait among your oldest 100 events; acknowledge those that you have read.",
			Input: object(map[string]any{
				"agent": agent, "limit": map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many; 20 by default."},
			}),
			Output: object(map[string]any{"conversations": conversationsSchema, "messages": map[string]any{"type": "array", "items": object(map[string]any{
				"id": id, "sender_id": id, "sent_by_me": truth, "created_at": moment,
				"text":      map[string]any{"type": "string"},
				"bound":     map[string]any{"type": "boolean", "description": "Whether the nonce proves who sent it, to whom, and under which id."},
				"sealed_at": moment,
				"refused": map[string]any{"type": "string", "description": "In a word why a message that opens was refused: the server shows it " +
					"as something else than it was sealed as, or again, or late; or it is unbound, and only bound ones are taken.",
					"enum": refusals},
				"error": map[string]any{"type": "string", "description": "Why the message has no text."},
			}, "id", "sender_id", "sent_by_me", "created_at", "text")}}),
			Call: o.read,
		},
	}
}

// conversationsSchema is the schema of the list that read_messages gives without an agent.
var conversationsSchema = map[string]any{"type": "array", "items": object(map[string]any{
	"agent": object(map[string]any{
		"id": map[string]any{"type": "string", "format": "uuid"}, "handle": map[string]any{"type": "string", "pattern": "^[a-z][a-z0-9_]{2,31}$"},
		"display_name": map[string]any{"type": "string"},
	}),
	"unread": map[string]any{"type": "integer"}, "last_unread_at": map[string]any{"type": "string", "format": "date-time"},
}, "agent", "unread")}

// object is the schema of an object that has these members and no others.
func object(properties map[string]any, required ...string) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// decode reads arguments, and refuses one that the tool does not have.
func decode(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
