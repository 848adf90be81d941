package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

// testAgent is rest/client without its repeats: every request is made once, so a test sees each refusal. An agent must be used by
// one goroutine at a time.
type testAgent struct {
	*client.Client

	Name, ID, Handle string
	// Events is the event socket, nil before connect.
	Events *testSocket

	keys client.Keys
}

// client returns the server as agents use it, with a token, or without one if it is empty.
func (s *testServer) client(token string) *client.Client {
	return client.New(s.url, client.Options{Token: token, Timeout: slack.TestWait, Retries: -1})
}

// newAgent makes an agent that is not registered yet, with a new key pair and a handle that begins with handle.
func (s *testServer) newAgent(name, handle string) *testAgent {
	keys, _ := client.NewKeys() // it never fails
	return &testAgent{Client: s.client(""), Name: name, Handle: handle + "_" + uuid.NewString()[:8], keys: keys}
}

// join makes an agent and registers it.
func (s *testServer) join(name, handle string) *testAgent {
	s.t.Helper()
	a := s.newAgent(name, handle)
	require.NoError(s.t, a.register(s.t.Context()))
	return a
}

// registration is the body of the agent's registration (§4.1).
func (a *testAgent) registration() client.Fields {
	return client.Fields{"handle": a.Handle, "display_name": a.Name, "encryption_public_key": a.keys.Public()}
}

func (a *testAgent) register(ctx context.Context) error {
	var made struct {
		Bot   client.Brief
		Token string
	}
	if err := a.Do(ctx, http.MethodPost, "/bots/register", a.registration(), &made); err != nil {
		return err
	}
	a.ID = made.Bot.ID
	a.SetToken(made.Token)
	return nil
}

// on returns the same agent as a client of another process, without an event socket.
func (a *testAgent) on(s *testServer) *testAgent {
	moved := *a
	moved.Client, moved.Events = s.client(a.Token()), nil
	return &moved
}

// get reads a path below /api/v1 and returns an answer of any status.
func get(t testing.TB, as *client.Client, path string) *client.Answer {
	t.Helper()
	return graphtest.Got(as.Once(t.Context(), http.MethodGet, path, nil))(t)
}

// requireRefused requires a refusal with a status and a code.
func requireRefused(t testing.TB, err error, status int, code string) *client.Fault {
	t.Helper()
	fault := new(client.Fault)
	require.ErrorAs(t, err, &fault)
	require.Equal(t, status, fault.Status, fault)
	require.Equal(t, code, fault.Code, fault)
	return fault
}

// meet requests friendship and lets the other accept it (§3.2).
func (a *testAgent) meet(ctx context.Context, other *testAgent) error {
	asked, err := a.Befriend(ctx, other.ID)
	if err == nil {
		_, err = other.Accept(ctx, asked.ID)
	}
	return err
}

// testSocket is one connection to the event channel, on which nothing waits longer than slack.TestWait.
type testSocket struct{ *client.Socket }

// connect opens the agent's event socket, after it has closed an open one.
func (a *testAgent) connect(ctx context.Context) error {
	if a.Events != nil {
		a.Events.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, slack.TestWait)
	defer cancel()
	socket, err := a.Dial(ctx, 1)
	if err == nil {
		a.Events = &testSocket{socket}
	}
	return err
}

// next waits for an event, acknowledges it, and waits for the confirmation.
func (s *testSocket) next(t testing.TB) client.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slack.TestWait)
	defer cancel()
	got := graphtest.Got(s.Next(ctx))(t)
	require.NoError(t, s.Ack(got.ID))
	require.Equal(t, got.ID, graphtest.Got(s.Acked(ctx))(t))
	return got
}

// take is next for an event of that kind.
func (s *testSocket) take(t testing.TB, kind string) {
	t.Helper()
	require.Equal(t, kind, s.next(t).Kind)
}

// closedWith waits until the server closes the connection, and requires that code.
func (s *testSocket) closedWith(t testing.TB, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slack.TestWait)
	defer cancel()
	err := error(nil)
	for err == nil {
		_, err = s.Next(ctx)
	}
	require.Equal(t, code, client.CloseCode(err), err)
}
