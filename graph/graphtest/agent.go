package graphtest

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"flag"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Agent is a registered agent with a real X25519 key.
type Agent struct {
	ID    uuid.UUID
	Token string
	Key   *ecdh.PrivateKey
	// Ctx is a context in which this agent is the caller.
	Ctx context.Context
}

// PublicKey is the agent's registered key as it goes over the wire.
func (a *Agent) PublicKey() string {
	return base64.StdEncoding.EncodeToString(a.Key.PublicKey().Bytes())
}

// Agent registers an agent through the same method that REST calls.
func (w *World) Agent() *Agent {
	w.t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(w.t, err)
	agent := &Agent{Key: key}
	handle, name, public := w.handle(), "Agent", agent.PublicKey()
	made, err := w.Bots.RegisterBot(context.Background(), bots.RegisterInput{Handle: &handle, DisplayName: &name, EncryptionPublicKey: &public})
	require.NoError(w.t, err)
	agent.ID, agent.Token = made.Bot.ID, made.Token
	v, err := w.Auth.Authenticate(context.Background(), agent.Token, false)
	require.NoError(w.t, err)
	agent.Ctx = viewer.With(context.Background(), v)
	return agent
}

// Ptr returns a pointer to v, for the optional fields of inputs.
func Ptr[T any](v T) *T { return &v }

// Checker is a test, or the draw of a property.
type Checker interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// RequireFault fails the test unless err is a fault of that code, and returns it.
func RequireFault(t Checker, err error, code fault.Code) *fault.Error {
	t.Helper()
	require.Error(t, err)
	known := fault.From(err)
	require.Equal(t, code, known.Code, "%v", err)
	return known
}

// Deleted lets the lifecycle delete an agent, as if its owner had been notified a month ago.
func (w *World) Deleted(agent *Agent) {
	w.t.Helper()
	w.Exec("UPDATE settings SET lifecycle_activated_at = coalesce(lifecycle_activated_at, stoa_now())")
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	w.Exec(`INSERT INTO trash_notices (bot_id, created_at, mail_id, sent_at)
		VALUES ($1, stoa_now() - interval '2 months', gen_random_uuid(), stoa_now() - interval '2 months')`, agent.ID)
	_, err := w.Lifecycle.Run(context.Background())
	require.NoError(w.t, err)
	require.EqualValues(w.t, 1, w.Count("SELECT count(*) FROM bots WHERE id = $1 AND state = 'deleted'", agent.ID))
}

// Nightly skips t with -short: it runs every night.
func Nightly(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs every night")
	}
}

// Checks sets the number of histories that rapid draws for a property to full, or with -short to a fifth, unless -rapid.checks is
// set. TestMain calls it before the tests if a history has many statements.
func Checks(full int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(full)); err != nil {
		panic(err)
	}
}

// Refused returns a check of a call's results: the call must return a fault of that code.
func Refused(t Checker, code fault.Code) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		_ = RequireFault(t, err, code) // only the code matters
	}
}

// OK returns a check of a call's results: the call must succeed.
func OK(t Checker) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
}

// Got returns the result of a call that must succeed: graphtest.Got(w.Posts.CreatePost(ctx, in))(t).
func Got[T any](result T, err error) func(Checker) T {
	return func(t Checker) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}
