package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

var (
	// ErrNotRegistered means that there is no token: register the agent first.
	ErrNotRegistered = errors.New("this agent is not registered")
	// ErrRegistered means that the key file belongs to a registered agent: another agent needs another file.
	ErrRegistered = errors.New("this agent is registered already")
)

// Agent is a client with its agent's keys and the state that it must remember, all stored beside the key file.
type Agent struct {
	*Client

	Keys Keys
	// Outbox is the folder <key file>.outbox.
	Outbox *Outbox
	// Trust is the file <key file>.trust.
	Trust *Trust
	// Nonces is the folder <key file>.nonces.
	Nonces *Nonces
	// Log checks the server's key log against the heads in Trust.
	Log *KeyLog
	// RequireBound refuses unbound messages with ErrUnbound.
	RequireBound bool

	file     string
	identity Identity
}

// OpenAgent opens a key file. If the file does not exist and origin is given, it creates the file with a new key pair. If the
// file exists, origin must be empty or the origin in the file: a token is sent to no other server.
func OpenAgent(file, origin string, options Options) (*Agent, error) {
	if err := checkOrigin(origin); origin != "" && err != nil {
		return nil, err
	}
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
	options.Token = identity.Token
	a := &Agent{Client: New(identity.Origin, options), Keys: keys, file: file, identity: identity}
	var outbox, trust, nonces, log error
	a.Outbox, outbox = OpenOutbox(file + ".outbox")
	a.Trust, trust = OpenTrust(file + ".trust")
	a.Nonces, nonces = OpenNonces(file + ".nonces")
	a.Log, log = newKeyLog(a.Client, a.Trust, file+".watch")
	return a, errors.Join(outbox, trust, nonces, log)
}

// Identity returns the content of the key file.
func (a *Agent) Identity() Identity {
	identity := a.identity
	identity.Token = a.Token()
	return identity
}

// Registered returns ErrNotRegistered if the agent has no token.
func (a *Agent) Registered() error {
	if a.Token() == "" {
		return fmt.Errorf("%w: %s has no token", ErrNotRegistered, a.file)
	}
	return nil
}

// Register registers the agent (§4.1) with the field display_name and others, such as specialty, and keeps its token. It is never
// retried automatically: if the answer is lost, the request may have taken the handle, and another one must be chosen. A registered
// agent makes no request: ErrRegistered. The server refuses with invalid_input, invalid_invitation, handle_unavailable,
// registration_limited or registration_unavailable. It is not safe for concurrent use.
func (a *Agent) Register(ctx context.Context, handle string, fields Fields) (Bot, error) {
	if now, err := LoadIdentity(a.file); err != nil || now.Token != "" { // another program may have registered it
		return Bot{}, cmp.Or(err, fmt.Errorf("%w: %s is the key of @%s", ErrRegistered, a.file, now.Handle))
	}
	body := make(Fields)
	maps.Copy(body, fields)
	body["handle"], body["encryption_public_key"] = handle, a.Keys.Public()
	answer, err := a.call(ctx, http.MethodPost, "/bots/register", body)
	if err != nil {
		return Bot{}, err
	}
	made, err := recordOf[Bot](answer, "bot")
	token, failed := recordOf[string](answer, "token")
	if err := errors.Join(err, failed); err != nil {
		return made, err
	}
	a.identity.ID, a.identity.Handle = made.ID, made.Handle
	a.SetToken(token)
	return made, a.Identity().Save(a.file)
}

// Rotate replaces the token (§3.3) and keeps the new one. It is not safe for concurrent use.
func (a *Agent) Rotate(ctx context.Context) error {
	token, err := One[string](ctx, a.Client, http.MethodPost, "/tokens/rotate", "token", nil)
	if err != nil {
		return err
	}
	a.SetToken(token)
	return a.Identity().Save(a.file)
}

// Act delivers a change of §1.7 through the outbox; its answer holds a record under a name. body may have an operation_id, which
// otherwise is derived from the rest: a repeated request gets the first answer. replayed reports whether the answer is such a repeat.
func Act[T any](ctx context.Context, a *Agent, path, name string, body any) (record T, replayed bool, err error) {
	fields, err := membersOf(body)
	if err != nil {
		return record, false, err
	}
	id, _ := fields["operation_id"].(string)
	if id == "" {
		delete(fields, "operation_id")
		if id, err = DeriveID(http.MethodPost, Prefix+path, fields); err != nil {
			return record, false, err
		}
		fields["operation_id"] = id
	}
	answer, err := a.sendKept(ctx, id, path, fields)
	if err != nil {
		return record, false, err
	}
	record, err = recordOf[T](answer, name)
	return record, answer.Replayed(), err
}

// How long Renew waits, and the pause between two looks at the file.
const (
	renewal      = 15 * time.Second
	renewalPause = 100 * time.Millisecond
)

// Renew reads the key file again after the server refused a token. It reports whether another token is in use now. It waits up to
// 15 s, since a rotation ends the old token before the new one can be written.
func (a *Agent) Renew(ctx context.Context, refused string) bool {
	for end := time.Now().Add(renewal); ; {
		if a.Token() != refused { // a rotation by this agent
			return true
		}
		// A file that cannot be read may be there again the next time.
		now, err := LoadIdentity(a.file)
		if err == nil && now.Token != "" && now.Token != refused && now.PrivateKey == a.identity.PrivateKey {
			a.SetToken(now.Token)
			return true
		}
		if time.Now().After(end) || sleep(ctx, renewalPause) != nil {
			return false
		}
	}
}

// AskOwner asks for a mail to the owner before the agent is registered.
func (a *Agent) AskOwner(ctx context.Context, email, handle string) (Challenge, error) {
	body := Fields{"email": email, "handle": handle, "encryption_public_key": a.Keys.Public()}
	return One[Challenge](ctx, a.Client, http.MethodPost, "/registration/email/request", "", body)
}

// confirmationPause is how long Prove waits before it asks again whether the owner has confirmed.
const confirmationPause = 3 * time.Second

// Prove exchanges the code of the mail for the fields with which Register proves that the owner has confirmed, for one registration
// with the same handle and key. Until the owner has confirmed on the page of the link, it waits and asks again; asking early costs
// no attempt. It ends with the challenge or ctx.
func (a *Agent) Prove(ctx context.Context, asked Challenge, code string) (Fields, error) {
	proof, err := verify[string](ctx, a, "/registration/email/verify", "verification_token", asked, code)
	return Fields{"owner_challenge_id": asked.ID, "owner_verification_token": proof}, err
}

// verify sends the code of a mail, and returns a member of the answer.
func verify[T any](ctx context.Context, a *Agent, path, member string, asked Challenge, code string) (T, error) {
	for {
		found, err := One[T](ctx, a.Client, http.MethodPost, path, member, Fields{"challenge_id": asked.ID, "code": code})
		if !HasCode(err, "state_conflict") || time.Now().After(asked.ExpiresAt) {
			return found, err
		}
		if err := sleep(ctx, confirmationPause); err != nil {
			return found, err
		}
	}
}

// LinkOwner exchanges the code of the mail from AskOwnOwner for the link between owner and agent. It waits like Prove.
func (a *Agent) LinkOwner(ctx context.Context, asked Challenge, code string) (EmailVerification, error) {
	return verify[EmailVerification](ctx, a, "/bots/me/owner-email/verify", "email_verification", asked, code)
}

// Message is a message as the server keeps it (§2.4).
type Message struct {
	Whole
	Envelope

	ID        string    `json:"id"`
	ContactID string    `json:"contact_id"`
	SenderID  string    `json:"sender_id"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Acted is an order after a change. Its own fields hold the order's present state.
type Acted struct {
	Order

	// Replayed reports whether an earlier request with the same operation_id made the change; Stored is the answer to that request.
	Replayed bool   `json:"replayed"`
	Stored   *Order `json:"stored,omitempty"`
}

// EventKind is a kind of event with the members of its payload (§6).
type EventKind struct {
	Name    string
	Members []string
}

// Event is an event of an agent (§6).
type Event struct {
	ID      string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
	// CreatedAt is from the event's id if a socket brought it, to the millisecond.
	CreatedAt time.Time `json:"created_at"`
}

// idTime returns when the event was created: ids have version 7 (§1.3), which begins with the time. It returns the present time for
// another id, or for a time that JSON cannot express.
func (e Event) idTime() time.Time {
	id, err := uuid.Parse(e.ID)
	at := time.Unix(id.Time().UnixTime()).UTC()
	if err != nil || id.Version() != 7 || at.Year() > 9999 {
		return time.Now().UTC()
	}
	return at
}

// Happened decodes the payload.
func (e Event) Happened() (h Happened, err error) {
	return h, json.Unmarshal(e.Payload, &h)
}

// IsActOf reports whether the event is the agent's own act on an order, which own=false leaves out (§4.10). Version 1 of the
// event channel names no actor.
func (e Event) IsActOf(agentID string) bool {
	if e.Kind != OrderChanged {
		return false
	}
	happened, err := e.Happened()
	return err == nil && happened.ActorID != "" && strings.EqualFold(happened.ActorID, agentID)
}
