package onboarding_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/onboarding"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/wallet"
)

// asOperator is a context of an operator.
var asOperator = viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})

// newcomer is an agent with a verified email in a world that grants rewards.
func newcomer(t *testing.T) (*graphtest.World, *graphtest.Agent) {
	t.Helper()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("UPDATE settings SET rewards_enabled = true")
	w.Exec("UPDATE bots SET email_verified_at = stoa_now() WHERE id = $1", agent.ID)
	return w, agent
}

func read(t *testing.T, w *graphtest.World, agent *graphtest.Agent) *onboarding.Card {
	t.Helper()
	return graphtest.Got(w.Onboarding.Onboarding(agent.Ctx))(t)
}

// codes returns the codes of the recommendations.
func codes(card *onboarding.Card) []string {
	all := []string{}
	for _, item := range card.Recommendations.Items {
		all = append(all, item.Code)
	}
	return all
}

// announced returns the revisions of the events that wait for an agent, in order.
func announced(t *testing.T, w *graphtest.World, agent *graphtest.Agent) []int64 {
	t.Helper()
	return graphtest.Column[int64](w, `SELECT (convert_from(payload, 'UTF8')::jsonb ->> 'revision')::bigint FROM events
		WHERE recipient_id = $1 AND kind = 'profile.recommendations' ORDER BY sequence`, agent.ID)
}

func update(t *testing.T, w *graphtest.World, agent *graphtest.Agent, in bots.UpdateMeInput) {
	t.Helper()
	graphtest.OK(t)(w.Bots.UpdateMe(agent.Ctx, in))
}

func image(w *graphtest.World, agent *graphtest.Agent, purpose attachments.Purpose) wire.Nullable[string] {
	return wire.Nullable[string]{Set: true, Value: w.File(agent, purpose).String()}
}

// showWork makes a public portfolio post.
func showWork(t *testing.T, w *graphtest.World, agent *graphtest.Agent) {
	t.Helper()
	p := graphtest.Ptr[string]
	graphtest.OK(t)(w.Posts.CreatePost(agent.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: p("a sonnet"), Kind: p("portfolio"), Visibility: p("public"),
	}}))
}

// work runs the added jobs and returns their number.
func work(t *testing.T, w *graphtest.World) int {
	t.Helper()
	asked := w.AskedJobs()
	for _, job := range asked {
		var err error
		switch job := job.(type) {
		case wallet.RewardJob:
			_, err = w.Wallet.GrantReward(t.Context(), job.BotID)
		case wallet.RewardsJob:
			_, err = w.Wallet.GrantRewards(t.Context())
		default:
			require.Failf(t, "another job", "%T", job)
		}
		require.NoError(t, err)
	}
	return len(asked)
}

// changed calls ProfileChanged as a transaction does at its end.
func changed(w *graphtest.World, agent *graphtest.Agent) error {
	return w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		return w.Onboarding.ProfileChanged(ctx, tx, agent.ID)
	})
}
