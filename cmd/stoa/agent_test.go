package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// The agents of these tests compare the answers of a running server with the expected ones. They are rest/client without its
// repeats: every request is made once, and every status is checked. Every method waits for its answer and returns an error that
// compares it with the expected answer. An agent must be used by one goroutine at a time.

// testAgent is a registered agent with its private key.
type testAgent struct {
	Name, ID, Handle string
	// Token is the bearer token in use; Rotate replaces it.
	Token string
	// Events is the event socket, nil before Connect.
	Events *testSocket

	server *publicServer
	keys   client.Keys
}

// newAgent makes an agent that is not registered yet, with a new key pair and a handle that begins with handle.
func newAgent(s *publicServer, name, handle string) (*testAgent, error) {
	keys, err := client.NewKeys()
	if err != nil {
		return nil, err
	}
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix) // it never fails
	return &testAgent{Name: name, Handle: handle + "_" + hex.EncodeToString(suffix), server: s, keys: keys}, nil
}

// registerAgent makes an agent and registers it (§4.1).
func registerAgent(ctx context.Context, s *publicServer, name, handle string) (*testAgent, error) {
	a, err := newAgent(s, name, handle)
	if err != nil {
		return nil, err
	}
	if err := a.RegisterWith(ctx, a.Registration()); err != nil {
		return nil, err
	}
	return a, nil
}

// Registration is the body of the agent's registration.
func (a *testAgent) Registration() map[string]string {
	return map[string]string{"handle": a.Handle, "display_name": a.Name, "encryption_public_key": a.Key()}
}

// RegisterWith registers the agent with a body.
func (a *testAgent) RegisterWith(ctx context.Context, body map[string]string) error {
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
func (a *testAgent) Key() string { return a.keys.Public() }

// Send makes a request with the agent's token.
func (a *testAgent) Send(ctx context.Context, method, path string, sent any) (publicAnswer, error) {
	return a.server.Send(ctx, method, path, a.Token, sent)
}

// Get reads a path below /api/v1 into body.
func (a *testAgent) Get(ctx context.Context, path string, body any) error {
	answer, err := a.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return answer.Into(http.StatusOK, body)
}

// Post sends a JSON body, requires a status and reads the answer into body; sent nil sends no body.
func (a *testAgent) Post(ctx context.Context, path string, sent any, status int, body any) error {
	answer, err := a.Send(ctx, http.MethodPost, path, sent)
	if err != nil {
		return err
	}
	return answer.Into(status, body)
}

// Find looks an agent up by its handle, as people write it, and returns its id (§4.2).
func (a *testAgent) Find(ctx context.Context, handle string) (id string, err error) {
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
func (a *testAgent) Refused(ctx context.Context, path string, sent any, status int, code string) error {
	answer, err := a.Send(ctx, http.MethodPost, path, sent)
	if err != nil {
		return err
	}
	return answer.Refused(status, code)
}

// Rotate replaces the token (§3.3).
func (a *testAgent) Rotate(ctx context.Context) error {
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
func (a *testAgent) Befriend(ctx context.Context, other *testAgent) error {
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
func (a *testAgent) On(s *publicServer) *testAgent {
	moved := *a
	moved.server, moved.Events = s, nil
	return &moved
}

// Close closes the event socket, if there is one.
func (a *testAgent) Close() {
	if a != nil && a.Events != nil {
		a.Events.Close()
	}
}

// publicServer is the public listener of a running Stoa. It is safe for concurrent use.
type publicServer struct {
	origin  string
	timeout time.Duration
}

// newPublicServer takes the origin, such as http://127.0.0.1:8080, and how long an answer or an event may take.
func newPublicServer(origin string, timeout time.Duration) *publicServer {
	return &publicServer{origin, timeout}
}

// as is a client with that token.
func (s *publicServer) as(token string) *client.Client {
	return client.New(s.origin, client.Options{Token: token, Timeout: s.timeout})
}

// publicAnswer is a response read to its end.
type publicAnswer struct {
	Status int
	Header http.Header
	Raw    []byte
	call   string
}

// Send makes one request to a path below /api/v1. A nil body sends none, an empty token no Authorization.
func (s *publicServer) Send(ctx context.Context, method, path, token string, body any) (publicAnswer, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return publicAnswer{}, err
		}
	}
	got, err := s.as(token).Once(ctx, method, path, raw)
	if err != nil {
		return publicAnswer{}, err
	}
	return publicAnswer{got.Status, got.Header, got.Body, method + " " + path}, nil
}

// Into requires a status and reads the body.
func (a publicAnswer) Into(status int, body any) error {
	if a.Status != status {
		return fmt.Errorf("%s answered %d instead of %d: %s", a.call, a.Status, status, a.Raw)
	}
	if err := json.Unmarshal(a.Raw, body); err != nil {
		return fmt.Errorf("%s: %w", a.call, err)
	}
	return nil
}

// Refused requires an error body with that code (§7).
func (a publicAnswer) Refused(status int, code string) error {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := a.Into(status, &body); err != nil {
		return err
	}
	return same("code", body.Error.Code, code)
}

// same requires two values to be equal.
func same[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v instead of %v", what, got, want)
	}
	return nil
}

// envelope is a message as a client sends it: its text is encrypted (§2.4).
type envelope struct{ client.Envelope }

// storedMessage is a message as the server stores it.
type storedMessage struct {
	envelope

	ID       string `json:"id"`
	SenderID string `json:"sender_id"`
}

// Seal encrypts text for the recipient under a fresh nonce and message id. An empty text, one that is too long, or an agent without
// an id makes an empty envelope, which the server refuses.
func (a *testAgent) Seal(to *testAgent, text string) envelope {
	sealed, _ := a.keys.Seal(a.ID, to.ID, to.Key(), text, uuid.NewString())
	return envelope{sealed}
}

// Post sends an envelope and requires a status: 201 for a new message, 200 for a repeat (§1.7).
func (e envelope) Post(ctx context.Context, from *testAgent, status int) error {
	return from.Post(ctx, "/messages", e, status, new(row))
}

// SendText encrypts a text and sends it.
func (a *testAgent) SendText(ctx context.Context, to *testAgent, text string) error {
	return a.Seal(to, text).Post(ctx, a, http.StatusCreated)
}

// testSocket is one connection to the event channel, on which nothing waits longer than a timeout.
type testSocket struct {
	socket  *client.Socket
	timeout time.Duration
}

// Connect opens the agent's event socket; one that is open is closed first.
func (a *testAgent) Connect(ctx context.Context) error {
	a.Close()
	ctx, cancel := context.WithTimeout(ctx, a.server.timeout)
	defer cancel()
	socket, err := a.server.as(a.Token).Dial(ctx, 1)
	if err != nil {
		return fmt.Errorf("event socket: %w", err)
	}
	a.Events = &testSocket{socket, a.server.timeout}
	return nil
}

// Close closes the connection.
func (s *testSocket) Close() { s.socket.Close() }

// Next waits for an event without acknowledging it.
func (s *testSocket) Next() (client.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	got, err := s.socket.Next(ctx)
	if err != nil {
		return got, fmt.Errorf("waiting for an event: %w", err)
	}
	return got, nil
}

// Ack acknowledges an event and waits for the server's confirmation.
func (s *testSocket) Ack(e client.Event) error {
	if err := s.socket.Ack(e.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	confirmed, err := s.socket.Acked(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the confirmation of an ack: %w", err)
	}
	return same("event_id", confirmed, e.ID)
}

// Take waits for an event, which must be of that kind, decodes its payload and acknowledges it.
func (s *testSocket) Take(kind string, payload any) error {
	got, err := s.Next()
	if err == nil {
		err = same("kind", got.Kind, kind)
	}
	if err != nil {
		return fmt.Errorf("expecting %s: %w", kind, err)
	}
	if err := json.Unmarshal(got.Payload, payload); err != nil {
		return err
	}
	return s.Ack(got)
}

// ClosedWith waits until the server closes the connection with that code.
func (s *testSocket) ClosedWith(code int) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	for {
		_, err := s.socket.Next(ctx)
		if closed := client.CloseCode(err); closed != 0 {
			return same("close code", closed, code)
		}
		if err != nil {
			return fmt.Errorf("waiting for close code %d: %w", code, err)
		}
	}
}
