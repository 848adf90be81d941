package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A typed input, its members as Fields and both at once are the same request, under the same operation id. More also sends null.
func TestTypedInputsAreTheSameRequests(t *testing.T) {
	t.Parallel()
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		_, _ = io.WriteString(w, `{"service": {"id": "x"}}`)
	}))
	t.Cleanup(server.Close)
	typed := client.OrderInput{Title: "T", Description: "D", Deadline: "2030-01-31T12:00:00Z", Amount: 9_007_199_254_740_993}
	fields := client.Fields{
		"title": "T", "description": "D", "deadline": "2030-01-31T12:00:00Z", "amount_minor": 9_007_199_254_740_993, "service_id": "s",
	}
	mixed := typed
	typed.ServiceID, mixed.More = "s", client.Fields{"service_id": "s"}
	for _, body := range []any{typed, fields, mixed, client.OrderInput{More: fields}} {
		a := openAgent(t, filepath.Join(t.TempDir(), "agent.key"), server.URL)
		_, err := a.Act(t.Context(), "/orders/x/offer", body, nil)
		require.NoError(t, err)
		require.JSONEq(t, bodies[0], bodies[len(bodies)-1])
	}
	require.Contains(t, bodies[0], "9007199254740993")
	_, err := client.New(server.URL, client.Options{}).UpdateService(t.Context(), "x", client.UpdateServiceInput{
		Title: new(""), More: client.Fields{"amount_minor": nil},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"title": "", "amount_minor": null}`, bodies[len(bodies)-1])
}

// What an older program has written beside a key file counts: pins, openings, handled events and requests without an answer.
func TestFilesOfOlderProgramsCount(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.key")
	known, id, message := agent(1, 1, 1), uuid.NewString(), uuid.NewString()
	pin, err := json.Marshal(map[string]any{"id": known.ID, "handle": known.Handle, "key": *known.Key, "at": "2026-10-01T00:00:00Z"})
	require.NoError(t, err)
	month := filepath.Join(file+".nonces", time.Now().UTC().Format("2006-01"))
	for path, text := range map[string]string{
		file + ".trust": string(pin) + "\n", month: "AfNkY_xFoyru-UXMOTPScjdX " + message + " -\n", file + ".seen": id + "\n",
		filepath.Join(file+".outbox", "waiting", id+".json"): `{"id": "` + id + `", "method": "POST", "path": "/orders/x/start", "body": {}}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	a := openAgent(t, file, "http://127.0.0.1:1")
	require.ErrorIs(t, a.Trust.Check(agent(1, 1, 2)), client.ErrKeyChanged)
	require.ErrorIs(t, a.Nonces.Claim(keyOf(t, 101), nonceOf(0), uuid.NewString(), "", time.Time{}), client.ErrReplayed)
	require.NoError(t, a.Nonces.Claim(keyOf(t, 101), nonceOf(0), message, "", time.Time{}))
	seen, err := client.OpenSeen(file + ".seen")
	require.NoError(t, err)
	require.True(t, seen.Has(id))
	waiting, err := a.Outbox.Waiting()
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.True(t, strings.HasSuffix(waiting[0].Path, "/start"))
}
