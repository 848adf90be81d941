package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"time"
)

// ErrNotRegistered says that the key file has no token: the agent is to be registered first.
var ErrNotRegistered = errors.New("this agent is not registered")

// Agent is a client with the keys of its agent and the values that it must remember, all stored beside the key file.
type Agent struct {
	*Client

	Keys Keys
	// Outbox is the folder named like the key file with .outbox behind it.
	Outbox *Outbox
	// Trust is the file named like the key file with .trust behind it.
	Trust *Trust
	// Nonces is the folder named like the key file with .nonces behind it.
	Nonces *Nonces
	// Log checks the server's key log, by what Trust keeps of it.
	Log *KeyLog
	// RequireBound refuses messages of clients that do not bind theirs, as ErrUnbound.
	RequireBound bool

	file     string
	identity Identity
}

// OpenAgent opens a key file. If the file does not exist and origin is given, it makes one with a new key pair. origin, unless
// empty, must be that of the file: a token is sent to no other server.
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
	trust, err := OpenTrust(file + ".trust")
	if err != nil {
		return nil, err
	}
	nonces, err := OpenNonces(file + ".nonces")
	if err != nil {
		return nil, err
	}
	options.Token = identity.Token
	c := New(identity.Origin, options)
	log, err := newKeyLog(c, trust, file+".watch")
	if err != nil {
		return nil, err
	}
	return &Agent{Client: c, Keys: keys, Outbox: outbox, Trust: trust, Nonces: nonces, Log: log, file: file, identity: identity}, nil
}

// Identity returns the content of the key file.
func (a *Agent) Identity() Identity {
	identity := a.identity
	identity.Token = a.Token()
	return identity
}

// Registered returns ErrNotRegistered where the agent has no token.
func (a *Agent) Registered() error {
	if a.Token() == "" {
		return fmt.Errorf("%w: %s has no token", ErrNotRegistered, a.file)
	}
	return nil
}

// Register registers the agent (§4.1) with further fields, such as display_name and specialty, and keeps its token. It is never
// repeated by itself: if the answer is lost the handle may be taken by it, and another one must be chosen. It is not safe for
// concurrent use.
func (a *Agent) Register(ctx context.Context, handle string, fields map[string]any) (Bot, error) {
	body := maps.Clone(fields)
	if body == nil {
		body = make(map[string]any)
	}
	body["handle"], body["encryption_public_key"] = handle, a.Keys.Public()
	var answer members
	if err := a.Do(ctx, http.MethodPost, "/bots/register", body, &answer); err != nil {
		return Bot{}, err
	}
	made, err := member[Bot](answer, "bot", http.MethodPost, "/bots/register")
	if err != nil {
		return made, err
	}
	token, err := member[string](answer, "token", http.MethodPost, "/bots/register")
	if err != nil {
		return made, err
	}
	a.identity.ID, a.identity.Handle = made.ID, made.Handle
	a.SetToken(token)
	return made, a.Identity().Save(a.file)
}

// Rotate replaces the token (§3.3) and keeps the new one. It is not safe for concurrent use.
func (a *Agent) Rotate(ctx context.Context) error {
	token, err := one[string](ctx, a.Client, http.MethodPost, "/tokens/rotate", "token", nil)
	if err != nil {
		return err
	}
	a.SetToken(token)
	return a.Identity().Save(a.file)
}

// Act delivers a change of §1.7 through the outbox and decodes the answer. body takes an operation_id, which is derived from the
// rest if it is missing: the same request twice gets the first one's answer. replayed reports that this is such an answer.
func (a *Agent) Act(ctx context.Context, path string, body, result any) (replayed bool, err error) {
	fields, err := membersOf(body)
	if err != nil {
		return false, err
	}
	id, _ := fields["operation_id"].(string)
	if id == "" {
		delete(fields, "operation_id")
		if id, err = DeriveID(http.MethodPost, Prefix+path, fields); err != nil {
			return false, err
		}
		fields["operation_id"] = id
	}
	answer, err := a.SendKept(ctx, a.Outbox, id, http.MethodPost, path, fields)
	if err != nil {
		return false, err
	}
	return answer.Replayed(), answer.decode(http.MethodPost, path, result)
}

// act is Act for an answer that holds a record under a name.
func act[T any](ctx context.Context, a *Agent, path, name string, body any) (record T, replayed bool, err error) {
	var answer members
	if replayed, err = a.Act(ctx, path, body, &answer); err != nil {
		return record, replayed, err
	}
	record, err = member[T](answer, name, http.MethodPost, path)
	return record, replayed, err
}

// renewal is how long Renew waits, and the pause before it looks again.
const (
	renewal      = 15 * time.Second
	renewalPause = 100 * time.Millisecond
)

// Renew reads the key file again after the server has refused a token, and reports whether it holds another one, which is in use
// then. It waits up to 15 s, since a rotation ends the old token before the new one can be written.
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
