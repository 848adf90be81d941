package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"

	"github.com/google/uuid"
)

// ErrNotRegistered says that the key file has no token: the agent is to be registered first.
var ErrNotRegistered = errors.New("this agent is not registered")

// Agent is a client with the keys of its agent and what it must remember, all of it beside the key file.
type Agent struct {
	*Client

	Keys Keys
	// Outbox is the folder named like the key file with .outbox behind it.
	Outbox *Outbox

	file     string
	identity Identity
}

// OpenAgent opens a key file, and makes it with a new key pair where there is none and origin is given. origin, unless empty,
// must be that of the file: a token is shown to no other server.
func OpenAgent(file, origin string, options Options) (*Agent, error) {
	identity, err := LoadIdentity(file)
	if errors.Is(err, fs.ErrNotExist) && origin != "" {
		keys, err := NewKeys()
		if err != nil {
			return nil, err
		}
		identity = Identity{Origin: New(origin, options).Origin(), PrivateKey: keys.Private()}
		if err := identity.Save(file); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if origin != "" && New(origin, options).Origin() != identity.Origin {
		return nil, fmt.Errorf("%s belongs to an agent of %s, not of %s", file, identity.Origin, origin)
	}
	keys, err := ParseKeys(identity.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	outbox, err := OpenOutbox(file + ".outbox")
	if err != nil {
		return nil, err
	}
	options.Token = identity.Token
	return &Agent{Client: New(identity.Origin, options), Keys: keys, Outbox: outbox, file: file, identity: identity}, nil
}

// Identity is what the key file holds.
func (a *Agent) Identity() Identity { return a.identity }

// Registered returns ErrNotRegistered where the agent has no token.
func (a *Agent) Registered() error {
	if a.identity.Token == "" {
		return fmt.Errorf("%w: %s has no token", ErrNotRegistered, a.file)
	}
	return nil
}

// Register registers the agent (§4.1) with further fields, such as display_name and specialty, and keeps its token. It is never
// repeated by itself: where the answer was lost the handle may be taken by it, and another one must be chosen. It is not safe
// for concurrent use.
func (a *Agent) Register(ctx context.Context, handle string, fields map[string]any) (Bot, error) {
	body := maps.Clone(fields)
	if body == nil {
		body = make(map[string]any)
	}
	body["handle"], body["encryption_public_key"] = handle, a.Keys.Public()
	var made struct {
		Bot   Bot    `json:"bot"`
		Token string `json:"token"`
	}
	if err := a.Do(ctx, http.MethodPost, "/bots/register", body, &made); err != nil {
		return made.Bot, err
	}
	a.identity.ID, a.identity.Handle, a.identity.Token = made.Bot.ID, made.Bot.Handle, made.Token
	a.SetToken(made.Token)
	return made.Bot, a.identity.Save(a.file)
}

// Rotate replaces the token (§3.3) and keeps the new one. It is not safe for concurrent use.
func (a *Agent) Rotate(ctx context.Context) error {
	token, err := one[string](ctx, a.Client, http.MethodPost, "/tokens/rotate", "token", nil)
	if err != nil {
		return err
	}
	a.identity.Token = token
	a.SetToken(token)
	return a.identity.Save(a.file)
}

// Act delivers a change of §1.7 through the outbox and decodes the answer. body takes an operation_id, which is derived from the
// rest where it is missing: whoever asks for the same twice gets the first one's result.
func (a *Agent) Act(ctx context.Context, path string, body map[string]any, result any) error {
	body = maps.Clone(body)
	id, _ := body["operation_id"].(string)
	if id == "" {
		delete(body, "operation_id")
		derived, err := DeriveID(http.MethodPost, Prefix+path, body)
		if err != nil {
			return err
		}
		id, body["operation_id"] = derived, derived
	}
	answer, err := a.Deliver(ctx, a.Outbox, id, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	return answer.decode(http.MethodPost, path, result)
}

// SendMessage seals text for a friend and sends it. The envelope is kept before it is sent, so that a repeat under the same id,
// also by a program that was killed in between, is the same message; another text under it is ErrOtherContent. An empty id is a
// fresh one. repeated reports whether the message was sent before.
func (a *Agent) SendMessage(ctx context.Context, to Brief, text, id string) (sent Message, repeated bool, err error) {
	if to.Key == nil {
		return sent, false, fmt.Errorf("%s has no key: it was deleted", to.Handle)
	}
	if id == "" {
		id = uuid.NewString()
	}
	envelope, err := a.Keys.Seal(to.ID, *to.Key, text)
	if err != nil {
		return sent, false, err
	}
	envelope.ClientMessageID = id
	kept, found, err := a.Outbox.Find(id)
	if err != nil {
		return sent, false, err
	}
	if found {
		if err := json.Unmarshal(kept.Body, &envelope); err != nil {
			return sent, false, fmt.Errorf("the envelope %s: %w", id, err)
		}
		before, err := a.Keys.Open(envelope)
		if err != nil || before != text || envelope.RecipientID != to.ID {
			return sent, false, errors.Join(fmt.Errorf("%s: %w", id, ErrOtherContent), err)
		}
	}
	answer, err := a.Deliver(ctx, a.Outbox, id, http.MethodPost, "/messages", envelope)
	if err != nil {
		return sent, found, err
	}
	var body struct {
		Message Message `json:"message"`
	}
	err = answer.decode(http.MethodPost, "/messages", &body)
	return body.Message, answer.Status == http.StatusOK, err
}

// Remember opens the store of events that were handled, the file named like the key file with .seen behind it.
func (a *Agent) Remember() (*Seen, error) { return OpenSeen(a.file + ".seen") }

// Text opens the message of an event; ok is false for an event that brings none.
func (a *Agent) Text(e Event) (text string, ok bool, err error) {
	if e.Kind != "message.created" {
		return "", false, nil
	}
	var payload struct {
		Message Message `json:"message"`
	}
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return "", true, err
	}
	text, err = a.Keys.Open(payload.Message.Envelope)
	return text, true, err
}
