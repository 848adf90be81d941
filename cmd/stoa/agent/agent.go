// Package agent compares what a running Stoa answers with what it must. It is rest/client without its repeats: every request is
// made once, and every status is looked at. The tests use it; it imports nothing of the server.
//
// Every method waits for its answer and returns an error that compares the answer with the expected one. An Agent must be used by
// one goroutine at a time.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"

	"stoa/rest/client"
)

// Agent is a registered agent with its private key.
type Agent struct {
	Name, ID, Handle string
	// Token is the bearer token in use; Rotate replaces it.
	Token string
	// Events is the event socket, nil before Connect.
	Events *Socket

	server *Server
	keys   client.Keys
}

// New makes an agent that is not registered yet, with a new key pair and a handle that begins with handle.
func New(s *Server, name, handle string) (*Agent, error) {
	keys, err := client.NewKeys()
	if err != nil {
		return nil, err
	}
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix) // it never fails
	return &Agent{Name: name, Handle: handle + "_" + hex.EncodeToString(suffix), server: s, keys: keys}, nil
}

// Register makes an agent and registers it (§4.1).
func Register(ctx context.Context, s *Server, name, handle string) (*Agent, error) {
	a, err := New(s, name, handle)
	if err != nil {
		return nil, err
	}
	if err := a.RegisterWith(ctx, a.Registration()); err != nil {
		return nil, err
	}
	return a, nil
}

// Registration is the body of the agent's registration.
func (a *Agent) Registration() map[string]string {
	return map[string]string{"handle": a.Handle, "display_name": a.Name, "encryption_public_key": a.Key()}
}

// RegisterWith registers the agent with a body.
func (a *Agent) RegisterWith(ctx context.Context, body map[string]string) error {
	var made struct {
		Bot struct {
			ID                  string `json:"id"`
			EncryptionPublicKey string `json:"encryption_public_key"`
		} `json:"bot"`
		Token string `json:"token"`
	}
	if err := a.Post(ctx, "/bots/register", body, http.StatusCreated, &made); err != nil {
		return err
	}
	a.ID, a.Token = made.Bot.ID, made.Token
	return same("registered key", made.Bot.EncryptionPublicKey, a.Key())
}

// Key is the agent's public key in base64.
func (a *Agent) Key() string { return a.keys.Public() }

// Send makes a request with the agent's token.
func (a *Agent) Send(ctx context.Context, method, path string, sent any) (Answer, error) {
	return a.server.Send(ctx, method, path, a.Token, sent)
}

// Get reads a path below /api/v1 into body.
func (a *Agent) Get(ctx context.Context, path string, body any) error {
	answer, err := a.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return answer.Into(http.StatusOK, body)
}

// Post sends a JSON body, requires a status and reads the answer into body; sent nil sends no body.
func (a *Agent) Post(ctx context.Context, path string, sent any, status int, body any) error {
	answer, err := a.Send(ctx, http.MethodPost, path, sent)
	if err != nil {
		return err
	}
	return answer.Into(status, body)
}

// Find looks an agent up by its handle, as people write it, and returns its id (§4.2).
func (a *Agent) Find(ctx context.Context, handle string) (id string, err error) {
	var found struct {
		Bots []struct {
			ID string `json:"id"`
		} `json:"bots"`
	}
	if err := a.Get(ctx, "/bots?handle="+url.QueryEscape(handle), &found); err != nil {
		return "", err
	}
	if err := same("agents called "+handle, len(found.Bots), 1); err != nil {
		return "", err
	}
	return found.Bots[0].ID, nil
}

// Refused requires a POST to fail with a status and a code.
func (a *Agent) Refused(ctx context.Context, path string, sent any, status int, code string) error {
	answer, err := a.Send(ctx, http.MethodPost, path, sent)
	if err != nil {
		return err
	}
	return answer.Refused(status, code)
}

// Rotate replaces the token (§3.3).
func (a *Agent) Rotate(ctx context.Context) error {
	var rotated struct {
		Token string `json:"token"`
	}
	err := a.Post(ctx, "/tokens/rotate", nil, http.StatusOK, &rotated)
	if err == nil {
		a.Token = rotated.Token
	}
	return err
}

// Befriend requests friendship and has the other accept it (§3.2).
func (a *Agent) Befriend(ctx context.Context, other *Agent) error {
	var asked struct {
		Contact struct {
			ID string `json:"id"`
		} `json:"contact"`
	}
	if err := a.Post(ctx, "/contacts/requests", map[string]string{"recipient_id": other.ID}, http.StatusCreated, &asked); err != nil {
		return err
	}
	return other.Post(ctx, "/contacts/"+asked.Contact.ID+"/accept", struct{}{}, http.StatusOK, &asked)
}

// On returns the same agent as a client of another process, without an event socket.
func (a *Agent) On(s *Server) *Agent {
	moved := *a
	moved.server, moved.Events = s, nil
	return &moved
}

// Close closes the event socket, if there is one.
func (a *Agent) Close() {
	if a != nil && a.Events != nil {
		a.Events.Close()
	}
}
