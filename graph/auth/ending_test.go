package auth_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

func TestUnauthorizedSaysWhatEndedTheToken(t *testing.T) {
	t.Parallel()
	reissue := func(why auth.Ending) func(*testing.T, *graphtest.World, *graphtest.Agent) {
		return func(t *testing.T, w *graphtest.World, a *graphtest.Agent) {
			t.Helper()
			require.NoError(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := w.Auth.Reissue(ctx, tx, a.ID, auth.NewToken(), why)
				return err
			}))
		}
	}
	for says, end := range map[string]func(*testing.T, *graphtest.World, *graphtest.Agent){
		"was replaced": func(t *testing.T, w *graphtest.World, a *graphtest.Agent) {
			t.Helper()
			graphtest.OK(t)(w.Auth.RotateToken(a.Ctx))
			_, err := w.Auth.RotateToken(a.Ctx)
			require.Regexp(t, `^This token was replaced at `, graphtest.RequireFault(t, err, fault.Unauthorized).Message)
		},
		"was revoked": func(t *testing.T, w *graphtest.World, a *graphtest.Agent) {
			t.Helper()
			graphtest.OK(t)(w.Auth.RevokeToken(a.Ctx))
		},
		"expired": func(_ *testing.T, w *graphtest.World, a *graphtest.Agent) {
			w.Exec("UPDATE tokens SET expires_at = stoa_now() WHERE bot_id = $1", a.ID)
		},
		"was ended by the operator": reissue(auth.TokenReissued),
		"was ended by a restore":    reissue(auth.Restored),
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent, other := w.Agent(), w.Agent()
			end(t, w, agent)
			for _, mutating := range []bool{false, true} {
				_, err := w.Auth.Authenticate(t.Context(), agent.Token, mutating)
				message := graphtest.RequireFault(t, err, fault.Unauthorized).Message
				require.Regexp(t, `^This token `+says+` at \S+Z\.$`, message)
				require.Less(t, len(message), 124, "it fits a close frame")
				moment := graphtest.Got(time.Parse("This token "+says+" at "+time.RFC3339+".", message))(t)
				require.WithinDuration(t, w.Now(), moment, time.Minute)
			}
			graphtest.OK(t)(w.Auth.Authenticate(t.Context(), other.Token, false))
		})
	}
}

// The message tells nothing about a token that never existed or whose agent was deleted.
func TestUnauthorizedSaysNothingOfOtherTokens(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	deleted := w.Agent()
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", deleted.ID)
	for _, token := range []string{deleted.Token, auth.NewToken(), "secret"} {
		_, err := w.Auth.Authenticate(t.Context(), token, false)
		require.Empty(t, graphtest.RequireFault(t, err, fault.Unauthorized).Message)
	}
	texts := graphtest.Got(w.Auth.EndingTexts(t.Context(), []uuid.UUID{uuid.New()}))(t)
	require.Empty(t, texts)
}
