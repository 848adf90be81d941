package auth_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string
		shift  time.Duration
		want   fault.Code
	}{
		"live":           {"SELECT 1", 0, ""},
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
			agent := w.Agent()
			w.Exec(c.change)
			w.Shift(c.shift)
			for _, mutating := range []bool{false, true} {
				v, err := w.Auth.Authenticate(context.Background(), agent.Token, mutating)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
			}
		})
	}
}

func TestChangesAreCountedPerAgentOverAllItsTokens(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 20}))
	agent, other := w.Agent(), w.Agent()
	second := graphtest.Got(w.Auth.RotateToken(agent.Ctx))(t)
	codes := graphtest.AtOnce(30, func(int) error {
		_, err := w.Auth.Authenticate(context.Background(), second.Token, true)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": 20, fault.WriteLimited: 10}, codes.Count())
	_, err := w.Auth.Authenticate(context.Background(), second.Token, false)
	require.NoError(t, err, "reading is not limited")
	graphtest.OK(t)(w.Auth.Authenticate(context.Background(), other.Token, true))
}

func TestActivityIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	last := func() time.Time {
		own := graphtest.Got(w.Bots.Me(agent.Ctx))(t)
		return own.Bot.LastActiveAt
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
	codes := graphtest.AtOnce(8, func(int) error {
		_, err := w.Auth.RotateToken(agent.Ctx)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": 1, fault.Unauthorized: 7}, codes.Count())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"))
}

func TestRevokingEndsThatTokenOnly(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO tokens (id, created_at, hash, expires_at, bot_id)
		SELECT gen_random_uuid(), created_at, decode(repeat('00', 32), 'hex'), expires_at, bot_id FROM tokens`)
	answer := graphtest.Got(w.Auth.RevokeToken(agent.Ctx))(t)
	require.True(t, answer.Revoked)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"))
	graphtest.Refused(t, fault.Unauthorized)(w.Bots.Me(context.Background()))
}
