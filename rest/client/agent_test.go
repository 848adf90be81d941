package client_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A key file belongs to one agent: a second registration makes no request and changes nothing, in any program.
func TestAnAgentRegistersOnce(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = fmt.Fprintf(w, `{"bot": {"id": %q, "handle": "ada"}, "token": "t"}`, uuid.NewString())
	})
	file := filepath.Join(t.TempDir(), "agent.key")
	a, elsewhere := openAgent(t, file, c.Origin()), openAgent(t, file, c.Origin())
	made := must(a.Register(t.Context(), "ada", nil))(t)
	for _, again := range []*client.Agent{a, elsewhere, openAgent(t, file, "")} {
		require.ErrorIs(t, errOf(again.Register(t.Context(), "ada_2", nil)), client.ErrRegistered)
	}
	require.EqualValues(t, 1, requests.Load())
	require.Equal(t, made.ID, openAgent(t, file, "").Identity().ID)
	require.Equal(t, "t", openAgent(t, file, "").Token())
}

// A key file is made only for an origin.
func TestAnOriginIsSchemeAndHost(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"127.0.0.1:8090", "stoa.example", "https://", "ftp://stoa.example", "https://stoa.example/api/v1", "https://stoa.example?x",
		"https://a@stoa.example",
	} {
		file := filepath.Join(t.TempDir(), "agent.key")
		_, err := client.OpenAgent(file, origin, client.Options{})
		require.ErrorContains(t, err, "is no origin such as https://stoa.example", origin)
		require.NoFileExists(t, file)
	}
	require.ErrorContains(t, errOf(client.New("127.0.0.1:8090", quick).Me(t.Context())), "is no origin")
	for _, origin := range []string{"https://stoa.example/", "http://[::1]:8080"} {
		openAgent(t, filepath.Join(t.TempDir(), "agent.key"), origin)
	}
}

// An agent that is not registered learns that, and not that its token is wrong.
func TestAnUnregisteredAgentIsToldSo(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusUnauthorized, "unauthorized") })
	a := openAgent(t, filepath.Join(t.TempDir(), "agent.key"), c.Origin())
	_, err := a.Wallet(t.Context())
	require.ErrorIs(t, err, client.ErrNotRegistered)
	require.True(t, client.HasCode(err, "unauthorized"))
	require.ErrorIs(t, a.Listen(t.Context(), client.Listener{}), client.ErrNotRegistered)
	a.SetToken("ended")
	require.NotErrorIs(t, errOf(a.Wallet(t.Context())), client.ErrNotRegistered)
}

// Goroutines and programs that send the same message at once send one envelope, and another text under its id is refused.
func TestAMessageIsSealedOnce(t *testing.T) {
	t.Parallel()
	me, keys := uuid.NewString(), must(client.NewKeys())(t)
	var mu sync.Mutex
	envelopes := make(map[string]int)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		envelopes[string(body)]++
		_, _ = fmt.Fprintf(w, `{"message": {"sender_id": %q, %s}`, me, body[1:])
	})
	file := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, client.Identity{Origin: c.Origin(), ID: me, Token: "t", PrivateKey: keys.Private()}.Save(file))
	to := agent(1, 0, 1)
	require.NoError(t, openTrust(t, file+".trust").Check(to))
	programs := []*client.Agent{openAgent(t, file, ""), openAgent(t, file, "")}
	for range 10 {
		id := uuid.NewString()
		var running sync.WaitGroup
		failed := make([]error, 8)
		for i := range failed {
			running.Go(func() { _, _, failed[i] = programs[i%2].SendMessage(t.Context(), to, "hello", id) })
		}
		running.Wait()
		for _, err := range failed {
			require.NoError(t, err)
		}
		_, _, err := programs[0].SendMessage(t.Context(), to, "other", id)
		require.ErrorIs(t, err, client.ErrOtherContent)
	}
	require.Len(t, envelopes, 10)
}

// An event has its time, whether the server sends it or only its id does.
func TestAnEventHasItsTime(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"events": [{"event_id": "e", "kind": "k", "created_at": "2026-11-21T02:03:04.000005Z", "payload": {}}]}`)
	})
	events, _, err := c.Poll(t.Context(), 0, 2, true)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 11, 21, 2, 3, 4, 5000, time.UTC), events[0].CreatedAt)
}

// Errors of wrong calls name the cause: a record without a key, an id that is no UUID, an action that does not exist.
func TestWrongCallsAreNamed(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "not_found") })
	file := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, client.Identity{Origin: c.Origin(), ID: uuid.NewString(), Token: "t", PrivateKey: privateKey(2)}.Save(file))
	a, to := openAgent(t, file, ""), agent(1, 0, 1)
	_, _, err := a.SendMessage(t.Context(), client.Brief{ID: to.ID}, "hello", "")
	require.ErrorContains(t, err, "there is no key of "+to.ID)
	require.NoError(t, a.Trust.Check(to))
	_, _, err = a.SendMessage(t.Context(), to, "hello", "first")
	require.ErrorContains(t, err, `"first" is no UUID`)
	err = errOf(a.ActOn(t.Context(), uuid.NewString(), "finish", 1, nil))
	require.True(t, client.HasCode(err, "not_found"))
	require.ErrorContains(t, err, `"finish" is none of the actions accept, reject, cancel,`)
	require.NotContains(t, errOf(a.ActOn(t.Context(), uuid.NewString(), "start", 1, nil)).Error(), "none of")
}

// An agent that registered with the key of another is not the same agent, though its fingerprint is the same. The pin of an agent whose
// fingerprint was compared says so, also if the key log proves the key.
func TestAnImpostorHasTheSameKey(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol, me := s.register("ada"), s.register("ben"), s.unsequenced("carol"), s.register("me")
	carol.card["encryption_public_key"] = ben.keys.Public()
	s.enter(carol, ben.keys.Public())
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, me, client.Checks{})
	fingerprint := must(client.Fingerprint(ben.keys.Public()))(t)
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	require.Equal(t, client.ViaLog, pinOf(t, a, ben).Via)
	require.Empty(t, must(a.Verify(t.Context(), "ben", ""))(t).SameKey)
	require.Equal(t, client.ViaLog, pinOf(t, a, ben).Via)

	require.Equal(t, []string{"ben"}, must(a.Verify(t.Context(), "carol", fingerprint))(t).SameKey)
	verified := must(a.Verify(t.Context(), "ben", fingerprint))(t)
	require.Equal(t, []string{"carol"}, verified.SameKey)
	require.Equal(t, client.ViaFingerprint, verified.Via)
	require.NotNil(t, verified.Index)
	require.ErrorContains(t, errOf(a.Verify(t.Context(), "ada", fingerprint)), "no pin was made or changed")
	require.NoError(t, a.Meet(t.Context(), ada.brief()))
	require.Equal(t, client.ViaFingerprint, must(a.Verify(t.Context(), "ben", ""))(t).Via, "it stays")
	require.Equal(t, client.ViaFingerprint, must(openTrust(t, file+".trust").Pins())(t)[ben.id()].Via)

	own := agent(9, 0, 0)
	own.Key = new(a.Keys.Public())
	require.Equal(t, []string{"me"}, must(a.SameKey(own))(t))
}
