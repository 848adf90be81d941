package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A listener that skips the agent's own acts asks the server to leave them out. It also skips own acts that come over a socket or
// from a server that does not know own.
func TestAListenerSkipsOwnActs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var asked, handled []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/events":
			asked = append(asked, r.URL.Query().Get("own"))
			_, _ = io.WriteString(w, `{"events": [
				{"event_id": "e1", "kind": "order.changed", "payload": {"order_id": "o", "status": "offered", "version": 1, "action": "create", "actor_id": "ME"}},
				{"event_id": "e2", "kind": "profile.recommendations", "payload": {"bot_id": "me", "revision": 2}},
				{"event_id": "e3", "kind": "order.changed", "payload": {"order_id": "o", "status": "funded", "version": 2}}
			], "more": false}`)
		case "/api/v1/events/acks":
			raw, _ := io.ReadAll(r.Body)
			if handled = append(handled, string(raw)); len(handled) == 5 {
				cancel()
			}
			_, _ = io.WriteString(w, `{"acked": [], "unknown": []}`)
		default:
			refuse(w, http.StatusNotFound, "not_found")
		}
	})
	seen := must(client.OpenSeen(filepath.Join(t.TempDir(), "seen")))(t)
	listener := client.Listener{Client: c, Seen: seen, PollOnly: true, SkipActsOf: "me", Handle: func(_ context.Context, e client.Event) error {
		handled = append(handled, e.Kind+" "+must(e.Happened())(t).Status)
		return nil
	}}
	require.ErrorIs(t, listener.Run(ctx), context.Canceled)
	require.Equal(t, []string{"false"}, asked)
	require.Equal(t, []string{
		`{"event_ids":["e1"]}`, "profile.recommendations ", `{"event_ids":["e2"]}`, "order.changed funded", `{"event_ids":["e3"]}`,
	}, handled)
}

// If the token ends between the arrival of an event and a request of its handler, the handler is called again with the new token.
func TestAHandlerGetsTheNewToken(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/events":
			_, _ = io.WriteString(w, `{"events": [{"event_id": "e1", "kind": "k", "payload": {}}], "more": false}`)
		case r.Header.Get("Authorization") != "Bearer new":
			refuse(w, http.StatusUnauthorized, "unauthorized")
		default:
			_, _ = io.WriteString(w, `{}`)
		}
	})
	c.SetToken("old")
	seen := must(client.OpenSeen(filepath.Join(t.TempDir(), "seen")))(t)
	listener := client.Listener{
		Client: c, Seen: seen, PollOnly: true,
		Renew: func(_ context.Context, refused string) bool {
			c.SetToken("new")
			return refused == "old"
		},
		Handle: func(ctx context.Context, _ client.Event) error {
			err := c.Do(ctx, http.MethodGet, "/wallet", nil, nil)
			if err == nil {
				cancel()
			}
			return err
		},
		Report: func(err error) {
			if _, failed := errors.AsType[*client.UnhandledError](err); failed {
				t.Error(err)
				cancel()
			}
		},
	}
	require.ErrorIs(t, listener.Run(ctx), context.Canceled)
	require.True(t, seen.Has("e1"))
}

// A listener reports another listener on another machine, which the server names.
func TestAListenerReportsAnotherOne(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Other-Listeners", "1")
		_, _ = io.WriteString(w, `{"events": [], "more": false}`)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var reported []error
	a := openAgent(t, filepath.Join(t.TempDir(), "agent.key"), c.Origin())
	a.SetToken("t")
	err := a.Listen(ctx, client.Listener{PollOnly: true, Report: func(err error) {
		reported = append(reported, err)
		cancel()
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []error{client.ErrListensElsewhere}, reported)
}
