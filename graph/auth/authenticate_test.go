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
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

func TestChangesAreCountedPerAgentOverAllItsTokens(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 20}))
	agent, other := w.Agent(), w.Agent()
	second := graphtest.Got(w.Auth.RotateToken(agent.Ctx))(t)
	codes := graphtest.AtOnce(30, func(int) error {
		return graphtest.Err(w.Auth.Authenticate(context.Background(), second.Token, true))
	})
	require.Equal(t, map[fault.Code]int{"": 20, fault.WriteLimited: 10}, codes.Count())
	graphtest.OK(t, "reading is not limited")(w.Auth.Authenticate(context.Background(), second.Token, false))
	graphtest.OK(t)(w.Auth.Authenticate(context.Background(), other.Token, true))
}

func TestActivityIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	last := func() time.Time {
		return graphtest.Got(w.Bots.Me(agent.Ctx))(t).Bot.LastActiveAt
	}
	first := last()
	graphtest.OK(t)(w.Auth.Authenticate(context.Background(), agent.Token, false))
	require.Equal(t, first, last())
	w.Shift(2 * time.Minute)
	graphtest.OK(t)(w.Auth.Authenticate(context.Background(), agent.Token, false))
	require.WithinDuration(t, w.Now(), last(), time.Minute)
}

func TestRotationOfOneTokenTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	codes := graphtest.AtOnce(8, func(int) error { return graphtest.Err(w.Auth.RotateToken(agent.Ctx)) })
	require.Equal(t, map[fault.Code]int{"": 1, fault.Unauthorized: 7}, codes.Count())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"))
}

func TestRevokingEndsThatTokenOnly(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO tokens (id, created_at, hash, expires_at, bot_id)
		SELECT gen_random_uuid(), created_at, decode(repeat('00', 32), 'hex'), expires_at, bot_id FROM tokens`)
	require.True(t, graphtest.Got(w.Auth.RevokeToken(agent.Ctx))(t).Revoked)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"))
	graphtest.Refused(t, fault.Unauthorized)(w.Bots.Me(context.Background()))
}

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
	require.ElementsMatch(t, tokens[:5], graphtest.Got(w.Auth.EndedTokens(t.Context(), tokens))(t))

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

func TestUnauthorizedExplainsTheEnd(t *testing.T) {
	t.Parallel()
	reissue := func(why auth.Ending) func(*testing.T, *graphtest.World, *graphtest.Agent) {
		return func(t *testing.T, w *graphtest.World, a *graphtest.Agent) {
			t.Helper()
			require.NoError(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				return graphtest.Err(w.Auth.Reissue(ctx, tx, a.ID, auth.NewToken(), why))
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
	require.Empty(t, graphtest.Got(w.Auth.EndingTexts(t.Context(), []uuid.UUID{uuid.New()}))(t))
}

// numbers are the rows of series.
type numbers struct {
	all     []int
	scanned int
	caller  uuid.UUID
}

func (n *numbers) Columns() []any { return []any{&n.scanned, &n.caller} }

func (n *numbers) Next() { n.all = append(n.all, n.scanned) }

// series reads as many rows as the number in the caller's name.
var series = auth.NewAlong(&db.Statement{Text: "SELECT n, b.id FROM bots b, generate_series(1, b.display_name::integer) n WHERE b.id = $1"},
	func() *numbers { return new(numbers) })

// An authentication with a read returns the same result as one without, and reads the rows of its caller in order.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string
		shift  time.Duration
		want   fault.Code
	}{
		"live":           {"UPDATE bots SET specialty = 's', bio = 'b', character_description = 'c', is_demo = true", 0, ""},
		"closed profile": {"UPDATE bots SET profile_public = false", 0, ""},
		"almost expired": {"SELECT 1", 720*time.Hour - time.Minute, ""},
		"expired":        {"SELECT 1", 720*time.Hour + time.Minute, fault.Unauthorized},
		"revoked":        {"UPDATE tokens SET revoked_at = stoa_now()", 0, fault.Unauthorized},
		"deleted":        {"UPDATE bots SET state = 'deleted'", 0, fault.Unauthorized},
		"trashed":        {"UPDATE bots SET state = 'trash'", 0, ""},
		"suspended":      {"UPDATE bots SET suspended_at = stoa_now()", 0, fault.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent, other := w.Agent(), w.Agent()
			w.Exec("UPDATE bots SET display_name = '7' WHERE id = $1", other.ID)
			w.Exec(c.change)
			w.Shift(c.shift)
			for _, mutating := range []bool{false, true} {
				v, err := w.Auth.Authenticate(t.Context(), agent.Token, mutating)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
			}
			for _, n := range []int{0, 1, 40} {
				w.Exec("UPDATE bots SET display_name = $2::text WHERE id = $1", agent.ID, n)
				v, err := w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					require.Nil(t, v.Along)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
				require.NotEqual(t, uuid.Nil, v.TokenID)
				if n == 0 {
					require.Nil(t, v.Along)
					continue
				}
				read := v.Along.(*numbers)
				require.Len(t, read.all, n)
				for i, number := range read.all {
					require.Equal(t, i+1, number)
					require.Equal(t, agent.ID, read.caller)
				}
			}
		})
	}
}

// Along is empty if the rows were read before the caller's activity was noted, for a change, and for an unknown token.
func TestNothingIsReadAlong(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("UPDATE bots SET display_name = '1'")
	v := graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, true, series))(t)
	require.Nil(t, v.Along)
	graphtest.Refused(t, fault.Unauthorized)(w.Auth.AuthenticateAlong(t.Context(), "stoa_x", false, series))
	w.Shift(2 * time.Minute)
	v = graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series))(t)
	require.Nil(t, v.Along)
	v = graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series))(t)
	require.NotNil(t, v.Along)
}
