package onboarding_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/onboarding"
)

func TestANewAgentsOnboarding(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	card := read(t, w, agent)
	require.Equal(t, onboarding.EmailVerification{Status: "disabled"}, card.EmailVerification)
	require.False(t, card.Rewards.Enabled)
	require.EqualValues(t, 10_000_00, card.Rewards.MaximumMinor)
	require.EqualValues(t, 5_000_00, card.Rewards.GrantedMinor)
	grounds := card.Rewards.Grounds
	require.Equal(t, []string{"registration", "avatar", "character", "profile_complete"},
		[]string{grounds[0].Ground, grounds[1].Ground, grounds[2].Ground, grounds[3].Ground})
	require.Equal(t, "granted", grounds[0].Status)
	require.EqualValues(t, 5_000_00, *grounds[0].GrantedAmountMinor)
	require.Equal(t, []string{}, grounds[0].Missing)
	for _, g := range grounds[1:] {
		require.Equal(t, "blocked", g.Status)
		require.Equal(t, []string{"rewards_disabled", "email_unverified"}, g.BlockedReasons)
		require.Nil(t, g.GrantedAt)
	}
	require.Equal(t, []string{"specialty", "bio", "public_portfolio_post"}, grounds[3].Missing)
	require.Equal(t, "active", card.Lifecycle.State)
	require.False(t, card.Lifecycle.Enabled)
	require.Nil(t, card.Lifecycle.TrashAfter)
	require.Equal(t, []string{}, card.Lifecycle.HeldBy)
	require.Len(t, card.Guide.Steps, 10)
	require.Nil(t, stepOf(card, "verify_email"), "mail is not set up")
	for _, step := range card.Guide.Steps {
		require.NotEmpty(t, step.Text)
		require.Equal(t, step.Code == "profile_public", step.Done, step.Code)
		require.Equal(t, step.Done, step.Action == nil, step.Code)
	}
}

// stepOf is a step of the guide, nil if the agent does not have it.
func stepOf(card *onboarding.Card, code string) *onboarding.Step {
	for _, step := range card.Guide.Steps {
		if step.Code == code {
			return step
		}
	}
	return nil
}

// The guide has the step verify_email unless the verification is disabled. Its action is shown while mail can be sent.
func TestTheStepOfTheEmail(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	for _, row := range []struct {
		gate, mail, verified bool
		shown, done, action  bool
	}{
		{},
		{verified: true},
		{mail: true, shown: true, action: true},
		{gate: true, shown: true},
		{gate: true, mail: true, shown: true, action: true},
		{gate: true, mail: true, verified: true, shown: true, done: true},
		{mail: true, verified: true, shown: true, done: true},
	} {
		w.Onboarding.SendsMail = row.mail
		w.Exec("UPDATE settings SET email_gate_enabled = $1", row.gate)
		w.Exec("UPDATE bots SET email_verified_at = CASE WHEN $1 THEN stoa_now() END", row.verified)
		card := read(t, w, agent)
		step := stepOf(card, "verify_email")
		require.Equal(t, row.shown, step != nil, "%+v", row)
		require.Equal(t, row.shown, card.EmailVerification.Status != "disabled", "%+v", row)
		if step != nil {
			require.Equal(t, row.done, step.Done, "%+v", row)
			require.Equal(t, row.action, step.Action != nil, "%+v", row)
		}
	}
}

func TestTheStatusOfRewards(t *testing.T) {
	t.Parallel()
	w, agent := newcomer(t)
	update(t, w, agent, bots.UpdateMeInput{AvatarAttachmentID: image(w, agent, attachments.Avatar), RightsConfirmed: graphtest.Ptr(true)})
	before := read(t, w, agent)
	require.Equal(t, "available", before.Rewards.Grounds[1].Status, "the grant is on its way")
	require.Empty(t, before.Rewards.Grounds[1].Missing)
	require.Equal(t, "available", before.Rewards.Grounds[2].Status)
	require.Equal(t, []string{"character"}, before.Rewards.Grounds[2].Missing)
	require.Zero(t, w.Count("SELECT count(*) FROM rewards"), "reading it credits nothing")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE bot_id = $1", agent.ID))
	require.Equal(t, 1, work(t, w))
	after := read(t, w, agent)
	require.Equal(t, "granted", after.Rewards.Grounds[1].Status)
	require.EqualValues(t, 1_000_00, *after.Rewards.Grounds[1].GrantedAmountMinor)
	require.EqualValues(t, 6_000_00, after.Rewards.GrantedMinor)

	for _, c := range []struct{ change, reason string }{
		{"UPDATE bots SET is_demo = true WHERE id = $1", "demo_agent"},
		{"UPDATE bots SET is_demo = false, state = 'trash' WHERE id = $1", "inactive_agent"},
	} {
		w.Exec(c.change, agent.ID)
		blocked := read(t, w, agent).Rewards.Grounds
		require.Equal(t, []string{c.reason}, blocked[2].BlockedReasons)
		require.Equal(t, "granted", blocked[1].Status, "what was granted stays")
	}
}

func TestTheOwnersEmail(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Onboarding.SendsMail = true
	require.Equal(t, "unverified", read(t, w, agent).EmailVerification.Status)
	w.Onboarding.SendsMail = false
	w.Exec("UPDATE settings SET email_gate_enabled = true, email_requirement_activated_at = stoa_now()")
	email := read(t, w, agent).EmailVerification
	require.Equal(t, "unverified", email.Status)
	require.False(t, email.Restricted)
	require.WithinDuration(t, w.Now().Add(14*24*time.Hour), *email.RestrictedFrom, time.Minute)
	w.Shift(14*24*time.Hour + time.Minute)
	require.True(t, read(t, w, agent).EmailVerification.Restricted)
	for _, step := range read(t, w, agent).Guide.Steps {
		if step.Code == "first_service" || step.Code == "public_portfolio_post" {
			require.Nil(t, step.Action, "it would be refused")
		}
	}
	w.Exec("UPDATE bots SET email_verified_at = stoa_now()")
	email = read(t, w, agent).EmailVerification
	require.Equal(t, "verified", email.Status)
	require.NotNil(t, email.VerifiedAt)
	require.False(t, email.Restricted)
	require.Nil(t, email.RestrictedFrom)
}

func TestObligationsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	customer, contractor := w.Agent(), w.Agent()
	w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	task := w.Tasked(customer, "A poem", "of four lines", 100)
	w.Selected(customer, task, w.Responded(contractor, task.ID).ID)
	life := read(t, w, customer).Lifecycle
	require.True(t, life.Enabled)
	require.Equal(t, []string{"open_orders", "reserved_funds"}, life.HeldBy)
	require.Equal(t, []string{"open_orders"}, read(t, w, contractor).Lifecycle.HeldBy)
	after := graphtest.Column[time.Time](w, "SELECT lifecycle_activated_at + interval '3 months' FROM settings")[0]
	require.True(t, after.Equal(*life.TrashAfter))
	w.Exec("UPDATE bots SET state = 'trash'")
	life = read(t, w, customer).Lifecycle
	require.Equal(t, "trash", life.State)
	require.Nil(t, life.TrashAfter)
	require.Nil(t, life.DeletionAfter)
}

// A shown action is a request that the server accepts, once its null members are filled in.
func TestRecommendationsCanBeFollowed(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Show(agent, false)
	for _, item := range read(t, w, agent).Recommendations.Items {
		if item.Code == "public_portfolio_post" {
			require.Nil(t, item.Action, "the profile is closed")
			continue
		}
		require.Equal(t, http.MethodPatch, item.Action.Method)
		require.Equal(t, "/api/v1/bots/me", item.Action.Path)
	}
	w.Show(agent, true)
	update(t, w, agent, bots.UpdateMeInput{
		Bio: graphtest.Ptr("I write."), Specialty: graphtest.Ptr("odes"), RightsConfirmed: graphtest.Ptr(true),
		AvatarAttachmentID: image(w, agent, attachments.Avatar), CharacterAttachmentID: image(w, agent, attachments.Character),
	})
	showWork(t, w, agent)
	require.Empty(t, read(t, w, agent).Recommendations.Items)
}
