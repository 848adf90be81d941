package onboarding_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

// The transaction that meets the last condition of a reward adds the reward's job; other transactions add none.
func TestTheConditionAsksForTheReward(t *testing.T) {
	t.Parallel()
	w, agent := newcomer(t)
	p, yes := graphtest.Ptr[string], graphtest.Ptr(true)
	granted := func(jobs int, minor int64) {
		t.Helper()
		require.Equal(t, jobs, work(t, w))
		require.Equal(t, 5_000_00+minor, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
	}
	update(t, w, agent, bots.UpdateMeInput{Bio: p("I write.")})
	granted(0, 0)
	update(t, w, agent, bots.UpdateMeInput{AvatarAttachmentID: image(w, agent, attachments.Avatar), RightsConfirmed: yes})
	granted(1, 1_000_00)
	update(t, w, agent, bots.UpdateMeInput{CharacterAttachmentID: image(w, agent, attachments.Character), RightsConfirmed: yes})
	granted(1, 3_000_00)
	showWork(t, w, agent)
	granted(0, 3_000_00)
	update(t, w, agent, bots.UpdateMeInput{ProfilePublic: graphtest.Ptr(false)})
	update(t, w, agent, bots.UpdateMeInput{Specialty: p("odes")})
	granted(0, 3_000_00)
	update(t, w, agent, bots.UpdateMeInput{ProfilePublic: yes})
	granted(1, 5_000_00)
	update(t, w, agent, bots.UpdateMeInput{Bio: p("")})
	update(t, w, agent, bots.UpdateMeInput{Bio: p("Again.")})
	granted(0, 5_000_00)
}

func TestAPostThatBecomesPublicWorkIsRewarded(t *testing.T) {
	t.Parallel()
	w, agent := newcomer(t)
	p := graphtest.Ptr[string]
	update(t, w, agent, bots.UpdateMeInput{Bio: p("I write."), Specialty: p("odes")})
	kept := w.Posted(agent, "a draft", "private")
	publish := posts.UpdatePostInput{PostID: kept.ID.String(), Fields: posts.Fields{Visibility: p("public"), Kind: p("portfolio")}}
	require.Empty(t, w.AskedJobs())
	graphtest.OK(t)(w.Posts.UpdatePost(agent.Ctx, publish))
	require.Equal(t, 1, work(t, w))
	require.EqualValues(t, 7_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
}

// An action of an operator can also meet the last condition.
func TestOperatorsMeetConditions(t *testing.T) {
	t.Parallel()
	w, agent := newcomer(t)
	w.Exec("UPDATE settings SET rewards_enabled = false")
	update(t, w, agent, bots.UpdateMeInput{AvatarAttachmentID: image(w, agent, attachments.Avatar), RightsConfirmed: graphtest.Ptr(true)})
	require.Empty(t, w.AskedJobs())
	graphtest.OK(t)(w.Operator.SuspendBot(asOperator, agent.ID, nil, "why"))
	_, err := w.Operator.UpdateSettings(asOperator, operator.SettingsInput{RewardsEnabled: graphtest.Ptr(true)}, "we can afford it")
	require.NoError(t, err)
	require.Equal(t, 1, work(t, w), "the walk over all agents")
	require.EqualValues(t, 5_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
	graphtest.OK(t)(w.Operator.ReinstateBot(asOperator, agent.ID, "a mistake"))
	require.Equal(t, 1, work(t, w))
	require.EqualValues(t, 6_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
}

// An agent that is older than its row of recommendations begins with the parts that its profile lacks.
func TestAnAgentWithoutARow(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("DELETE FROM recommendations")
	require.EqualValues(t, 1, read(t, w, agent).Recommendations.Revision)
	require.Len(t, codes(read(t, w, agent)), 5)
	require.NoError(t, changed(w, agent))
	require.EqualValues(t, 2, read(t, w, agent).Recommendations.Revision)
}

// Concurrent changes announce each revision once and in order, and the last list is correct.
func TestChangesAtOnceAnnounceEachRevisionOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	ended := graphtest.AtOnce(40, func(i int) error {
		if i%2 == 0 {
			bio := []string{"I write.", ""}[i/2%2]
			return graphtest.Err(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{Bio: &bio}))
		}
		p := graphtest.Ptr[string]
		work := posts.Fields{Text: p("x"), Kind: p("portfolio"), Visibility: p("public")}
		made, err := w.Posts.CreatePost(agent.Ctx, posts.CreatePostInput{Fields: work})
		if err != nil {
			return err
		}
		return graphtest.Err(w.Posts.DeletePost(agent.Ctx, posts.PostInput{PostID: made.Post.ID.String()}))
	})
	require.Equal(t, map[fault.Code]int{"": 40}, ended.Count())
	card, revisions := read(t, w, agent), announced(t, w, agent)
	require.Len(t, revisions, int(card.Recommendations.Revision)-1)
	for i, revision := range revisions {
		require.EqualValues(t, i+2, revision)
	}
	require.Contains(t, codes(card), "public_portfolio_post", "every work was deleted again")
	lacks := graphtest.Column[bool](w, "SELECT bio = '' FROM bots WHERE id = $1", agent.ID)[0]
	require.Equal(t, lacks, slices.Contains(codes(card), "bio"))
}

// If two transactions each meet half of a condition, the later one adds the reward's job.
func TestHalvesOfAConditionAtOnce(t *testing.T) {
	t.Parallel()
	w, agent := newcomer(t)
	update(t, w, agent, bots.UpdateMeInput{Bio: graphtest.Ptr("I write.")})
	halfway := make(chan struct{})
	var both errgroup.Group
	both.Go(func() error {
		return w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.SQL.ExecContext(ctx, "UPDATE bots SET specialty = 'odes' WHERE id = $1", agent.ID); err != nil {
				return err
			}
			if err := w.Onboarding.ProfileChanged(ctx, tx, agent.ID); err != nil {
				return err
			}
			close(halfway)
			w.AwaitLocks(1)
			return nil
		})
	})
	<-halfway
	showWork(t, w, agent)
	require.NoError(t, both.Wait())
	require.Equal(t, 1, work(t, w))
	require.EqualValues(t, 7_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
}
