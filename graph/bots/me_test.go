package bots_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// callers are changes of an agent, each with the fault that refuses its requests afterwards, if any.
var callers = map[string]struct {
	change string
	want   fault.Code
}{
	"live":           {"UPDATE bots SET specialty = 's', bio = 'b', character_description = 'c', is_demo = true", ""},
	"closed profile": {"UPDATE bots SET profile_public = false", ""},
	"trashed":        {"UPDATE bots SET state = 'trash'", ""},
	"deleted":        {"UPDATE bots SET state = 'deleted'", fault.Unauthorized},
	"revoked":        {"UPDATE tokens SET revoked_at = stoa_now()", fault.Unauthorized},
	"expired":        {"UPDATE tokens SET expires_at = stoa_now()", fault.Unauthorized},
	"suspended":      {"UPDATE bots SET suspended_at = stoa_now()", fault.Forbidden},
}

// An authentication that reads the passport decides as any other does, and shows what Me reads by itself.
func TestAuthenticationWithPassport(t *testing.T) {
	t.Parallel()
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent := w.Agent()
			w.Exec(c.change)
			ctx := w.Bots.PiggybackMe(t.Context())
			v, err := w.Auth.Authenticate(ctx, agent.Token, false)
			if c.want != "" {
				graphtest.RequireFault(t, err, c.want)
				_, err = w.Bots.Me(ctx)
				graphtest.RequireFault(t, err, fault.Unauthorized)
				return
			}
			require.NoError(t, err)
			require.Equal(t, agent.ID, v.BotID)
			whole, err := w.Bots.Me(agent.Ctx)
			require.NoError(t, err)
			ended, cancel := context.WithCancel(viewer.With(ctx, v))
			cancel()
			read, err := w.Bots.Me(ended)
			require.NoError(t, err, "no further statement is run")
			require.Equal(t, whole, read)
		})
	}
}

func TestPassportOfAnotherAgentIsNotUsed(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent, other := w.Agent(), w.Agent()
	ctx := w.Bots.PiggybackMe(t.Context())
	_, err := w.Auth.Authenticate(ctx, agent.Token, false)
	require.NoError(t, err)
	own, err := w.Bots.Me(viewer.With(ctx, viewer.From(other.Ctx)))
	require.NoError(t, err)
	require.Equal(t, other.ID, own.Bot.ID)
}

// What the authentication changes of the passport shows in the same answer.
func TestPassportShowsTheActivityThatAuthenticationNoted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Shift(2 * time.Minute)
	ctx := w.Bots.PiggybackMe(t.Context())
	v, err := w.Auth.Authenticate(ctx, agent.Token, false)
	require.NoError(t, err)
	own, err := w.Bots.Me(viewer.With(ctx, v))
	require.NoError(t, err)
	require.WithinDuration(t, w.Now(), own.Bot.LastActiveAt, time.Minute)
}
