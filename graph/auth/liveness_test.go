package auth_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/viewer"
)

func TestEndedTokensAreFound(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	kept, revoked, expired, suspended, deleted := w.Agent(), w.Agent(), w.Agent(), w.Agent(), w.Agent()
	graphtest.OK(t)(w.Auth.RevokeToken(revoked.Ctx))
	w.Exec("UPDATE tokens SET expires_at = stoa_now() WHERE bot_id = $1", expired.ID)
	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", deleted.ID)
	tokens := []uuid.UUID{uuid.New()}
	for _, a := range []*graphtest.Agent{revoked, expired, suspended, deleted, kept} {
		tokens = append(tokens, viewer.From(a.Ctx).TokenID)
	}
	ended := graphtest.Got(w.Auth.EndedTokens(t.Context(), tokens))(t)
	require.ElementsMatch(t, tokens[:5], ended)

	w.Shift(8 * 24 * time.Hour)
	n := graphtest.Got(w.Auth.DeleteEndedTokens(t.Context()))(t)
	require.EqualValues(t, 1, n, "only the one that expired; the others keep their date")
}

func TestConnectedAgentsDoNotAge(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	connected, idle := w.Agent(), w.Agent()
	w.Shift(time.Hour)
	require.NoError(t, w.Auth.NoteActivity(t.Context(), []uuid.UUID{connected.ID}))
	const fresh = "SELECT count(*) FROM bots WHERE id = $1 AND last_active_at > stoa_now() - interval '1 minute'"
	require.EqualValues(t, 1, w.Count(fresh, connected.ID))
	require.Zero(t, w.Count(fresh, idle.ID))
}
