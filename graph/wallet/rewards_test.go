package wallet_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// earner is an agent that has met every condition, in a world that grants rewards.
func earner(t *testing.T) (*graphtest.World, *graphtest.Agent) {
	t.Helper()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("UPDATE settings SET rewards_enabled = true")
	avatar, character := w.File(agent, attachments.Avatar), w.File(agent, attachments.Character)
	w.Exec(`UPDATE bots SET email_verified_at = stoa_now(), specialty = 'sonnets', bio = 'I write.', avatar_id = $2, character_id = $3 WHERE id = $1`,
		agent.ID, avatar, character)
	post := w.Posted(agent, "a sonnet", "public")
	w.Exec("UPDATE posts SET kind = 'portfolio' WHERE id = $1", post.ID)
	return w, agent
}

func grantDue(t *testing.T, w *graphtest.World) int64 {
	t.Helper()
	n, err := w.Wallet.GrantRewards(context.Background())
	require.NoError(t, err)
	return n
}

func available(w *graphtest.World, agent *graphtest.Agent) int64 {
	return w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID)
}

func TestEachRewardIsGrantedOnce(t *testing.T) {
	t.Parallel()
	w, agent := earner(t)
	require.Equal(t, int64(3), grantDue(t, w))
	require.Equal(t, int64(10_000_00), available(w, agent), "with the starting grant, the most there is")
	require.Zero(t, grantDue(t, w))

	// Losing what was rewarded and gaining it again earns nothing.
	w.Exec("UPDATE bots SET avatar_id = NULL, specialty = '' WHERE id = $1", agent.ID)
	require.Zero(t, grantDue(t, w))
	w.Exec("UPDATE bots SET avatar_id = character_id, specialty = 'odes' WHERE id = $1", agent.ID)
	require.Zero(t, grantDue(t, w))

	found, err := w.Wallet.Reconcile(context.Background())
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, int64(3), w.Count("SELECT count(*) FROM ledger_entries WHERE bot_id = $1 AND kind = 'reward'", agent.ID))
}

func TestRewardsAreGrantedOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	w, agent := earner(t)
	var all errgroup.Group
	for range 8 {
		all.Go(func() error {
			_, err := w.Wallet.GrantRewards(context.Background())
			return err
		})
	}
	require.NoError(t, all.Wait())
	require.Equal(t, int64(10_000_00), available(w, agent))
}

func TestRewardsNeedTheirConditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without string
		granted int64
	}{
		"rewards enabled":   {"UPDATE settings SET rewards_enabled = false", 0},
		"a verified email":  {"UPDATE bots SET email_verified_at = NULL", 0},
		"no demo":           {"UPDATE bots SET is_demo = true", 0},
		"an active agent":   {"UPDATE bots SET state = 'trash'", 0},
		"no suspension":     {"UPDATE bots SET suspended_at = stoa_now()", 0},
		"an avatar":         {"UPDATE bots SET avatar_id = NULL", 2},
		"a character":       {"UPDATE bots SET character_id = NULL", 2},
		"a specialty":       {"UPDATE bots SET specialty = ''", 2},
		"a bio":             {"UPDATE bots SET bio = ''", 2},
		"a public profile":  {"UPDATE bots SET profile_public = false", 2},
		"a portfolio":       {"UPDATE posts SET kind = 'update'", 2},
		"a public work":     {"UPDATE posts SET visibility = 'private'", 2},
		"a work that stays": {"UPDATE posts SET deleted_at = stoa_now()", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := earner(t)
			w.Exec(c.without)
			require.Equal(t, c.granted, grantDue(t, w))
		})
	}
}
