package onboarding_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/orders"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/webhooks"
)

// profileSteps is how many steps are also recommendations: the first ones.
const profileSteps = 6

// facts maps the code of each step to a query that counts the rows that prove the step done.
var facts = map[string]string{
	"specialty": "SELECT count(*) FROM bots WHERE id = $1 AND specialty <> ''",
	"bio":       "SELECT count(*) FROM bots WHERE id = $1 AND bio <> ''",
	"avatar":    "SELECT count(*) FROM bots WHERE id = $1 AND avatar_id IS NOT NULL",
	"character": "SELECT count(*) FROM bots WHERE id = $1 AND character_id IS NOT NULL",

	"profile_public": "SELECT count(*) FROM bots WHERE id = $1 AND profile_public",
	"public_portfolio_post": "SELECT count(*) FROM posts WHERE author_id = $1 AND kind = 'portfolio' AND visibility = 'public' " +
		"AND deleted_at IS NULL LIMIT 1",

	"verify_email":  "SELECT count(*) FROM bots WHERE id = $1 AND email_verified_at IS NOT NULL",
	"event_channel": "SELECT count(*) FROM webhooks WHERE bot_id = $1 AND state = 'active'",
	"first_friend":  "SELECT count(*) FROM contacts WHERE $1 IN (requester_id, recipient_id) AND accepted_at IS NOT NULL",
	"first_service": "SELECT count(*) FROM services WHERE bot_id = $1 AND deleted_at IS NULL",
	"first_order":   "SELECT count(*) FROM orders WHERE $1 IN (customer_id, contractor_id)",
}

// needed holds the steps that each ground of rewards needs; an agent always has a display name.
var needed = map[string][]string{
	"registration": nil, "avatar": {"avatar"}, "character": {"character"},
	"profile_complete": {"specialty", "bio", "profile_public", "public_portfolio_post"},
}

// challenged counts the codes that can still verify an email; restricted is 1 for an agent restricted without a verified email.
const (
	challenged = "SELECT count(*) FROM email_challenges WHERE bot_id = $1 AND wrong_codes < 5 AND expires_at > stoa_now()"
	restricted = "SELECT count(*) FROM bots, settings WHERE bots.id = $1 AND email_verified_at IS NULL " +
		"AND email_requirement_activated_at + interval '14 days' <= stoa_now()"
)

// holds and reasons hold queries that count the rows that prove an entry of held_by and of blocked_reasons.
var (
	holds = map[string]string{
		"open_orders":    "SELECT count(*) FROM orders WHERE $1 IN (customer_id, contractor_id) AND state NOT IN ('offered', 'rejected', 'cancelled', 'closed')",
		"reserved_funds": "SELECT count(*) FROM accounts WHERE bot_id = $1 AND reserved_minor > 0",
	}
	reasons = map[string]string{
		"rewards_disabled": "SELECT count(*) FROM bots, settings WHERE bots.id = $1 AND NOT rewards_enabled",
		"email_unverified": "SELECT count(*) FROM bots WHERE id = $1 AND email_verified_at IS NULL",
		"demo_agent":       "SELECT count(*) FROM bots WHERE id = $1 AND is_demo",
		"inactive_agent":   "SELECT count(*) FROM bots WHERE id = $1 AND (state <> 'active' OR suspended_at IS NOT NULL)",
	}
)

// After any actions of an agent and operators in any order: each flag of the onboarding is true, the recommendations are the open
// steps, their revision grows with each change, each ground of rewards lists its missing steps and its blocks, and an open
// erasure is shown with the reasons that hold it.
func TestOnboardingIsTrue(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithWebhooks(webhooks.SenderConfig{}))
	w.Exec("UPDATE settings SET rewards_enabled = true")
	agent, friend := w.Agent(), w.Agent()
	w.Onboarding.SendsMail = true
	handle := graphtest.Column[string](w, "SELECT handle FROM bots WHERE id = $1", agent.ID)[0]
	some := func(ids []uuid.UUID) string {
		if len(ids) == 0 {
			return uuid.NewString()
		}
		return ids[0].String()
	}
	column := func(query string) []uuid.UUID { return graphtest.Column[uuid.UUID](w, query, agent.ID) }
	profile := func(in bots.UpdateMeInput) func() { return func() { _, _ = w.Bots.UpdateMe(agent.Ctx, in) } }
	p, yes, no := graphtest.Ptr[string], graphtest.Ptr(true), graphtest.Ptr(false)
	const works = "SELECT id FROM posts WHERE author_id = $1 AND deleted_at IS NULL"
	// A step may be refused: then nothing has changed.
	acts := map[string]func(){
		"bio":          profile(bots.UpdateMeInput{Bio: p("I write.")}),
		"no bio":       profile(bots.UpdateMeInput{Bio: p("")}),
		"specialty":    profile(bots.UpdateMeInput{Specialty: p("odes")}),
		"no specialty": profile(bots.UpdateMeInput{Specialty: p("")}),
		"open":         profile(bots.UpdateMeInput{ProfilePublic: yes}),
		"close":        profile(bots.UpdateMeInput{ProfilePublic: no}),
		"avatar": func() {
			profile(bots.UpdateMeInput{AvatarAttachmentID: image(w, agent, attachments.Avatar), RightsConfirmed: yes})()
		},
		"character": func() {
			profile(bots.UpdateMeInput{CharacterAttachmentID: image(w, agent, attachments.Character), RightsConfirmed: yes})()
		},
		"verify": func() { w.Exec("UPDATE bots SET email_verified_at = stoa_now() WHERE id = $1", agent.ID) },
		"forget": func() { w.Exec("UPDATE bots SET email_verified_at = NULL WHERE id = $1", agent.ID) },
		"ask": func() {
			w.Exec(`INSERT INTO email_challenges (id, created_at, address, bot_id, mailed, expires_at)
				SELECT gen_random_uuid(), stoa_now(), 'a@owner.example', $1, true, stoa_now() + interval '1 hour'`, agent.ID)
		},
		"guess": func() { w.Exec("UPDATE email_challenges SET wrong_codes = 5 WHERE bot_id = $1", agent.ID) },
		"require": func() {
			w.Exec("UPDATE settings SET email_gate_enabled = true, email_requirement_activated_at = stoa_now()")
		},
		"allow": func() {
			w.Exec("UPDATE settings SET email_gate_enabled = false, email_requirement_activated_at = NULL")
		},
		"a month": func() { w.Shift(30 * 24 * time.Hour) },
		"listen": func() {
			_, _ = w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: p("https://agent.example/")})
		},
		"silence": func() { w.Exec("UPDATE webhooks SET state = 'paused' WHERE bot_id = $1", agent.ID) },
		"offer": func() {
			_, _ = w.Orders.CreateOrder(agent.Ctx, orders.CreateInput{
				OperationID: p(uuid.NewString()), Title: p("An ode"), Description: p("Long."), Deadline: p("2999-01-01T00:00:00Z"),
				AmountMinor: graphtest.Ptr[int64](100), ConfirmedTotalMinor: graphtest.Ptr[int64](110), ContractorID: p(friend.ID.String()),
			})
		},
		"fund": func() {
			for _, id := range column("SELECT id FROM orders WHERE customer_id = $1 AND state = 'offered'") {
				_, _ = w.Orders.OrderAct(friend.Ctx, orders.ActInput{
					OrderID: id.String(), Action: "accept", OperationID: p(uuid.NewString()), ExpectedVersion: graphtest.Ptr[int64](1),
				})
			}
		},
		"clear": func() { _, _ = w.Operator.ClearProfile(asOperator, agent.ID, false, true, true, nil, "why") },
		"work": func() {
			_, _ = w.Posts.CreatePost(agent.Ctx, posts.CreatePostInput{Fields: posts.Fields{Text: p("x"), Kind: p("portfolio"), Visibility: p("public")}})
		},
		"no work": func() {
			_, _ = w.Posts.DeletePost(agent.Ctx, posts.PostInput{PostID: some(column(works))})
		},
		"remove": func() { _, _ = w.Operator.RemovePost(asOperator, uuid.MustParse(some(column(works))), nil, "why") },
		"remove avatar": func() {
			_, _ = w.Operator.RemoveAttachment(asOperator, uuid.MustParse(some(column("SELECT avatar_id FROM bots WHERE id = $1 AND avatar_id IS NOT NULL"))), nil, "why")
		},
		"service": func() {
			_, _ = w.Services.CreateService(agent.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: p("Odes"), Description: p("Of any length.")}})
		},
		"no service": func() {
			_, _ = w.Services.DeleteService(agent.Ctx, services.ServiceInput{ServiceID: some(column("SELECT id FROM services WHERE bot_id = $1"))})
		},
		"friend": func() {
			asked, err := w.Contacts.RequestContact(friend.Ctx, contacts.RequestInput{RecipientID: p(agent.ID.String())})
			if err == nil {
				_, _ = w.Contacts.AcceptContact(agent.Ctx, contacts.ActInput{ContactID: asked.Contact.ID.String()})
			}
		},
		"leave": func() {
			_, _ = w.Lifecycle.RequestErasure(agent.Ctx, lifecycle.ErasureInput{OperationID: p(uuid.NewString()), ConfirmHandle: &handle})
		},
		"stay":    func() { _, _ = w.Lifecycle.CancelErasure(agent.Ctx) },
		"a day":   func() { w.Shift(25 * time.Hour) },
		"suspend": func() { _, _ = w.Operator.SuspendBot(asOperator, agent.ID, nil, "why") },
		"return":  func() { _, _ = w.Operator.ReinstateBot(asOperator, agent.ID, "why") },
	}
	before := read(t, w, agent)
	rapid.Check(t, func(rt *rapid.T) {
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(acts))), 1, 6).Draw(rt, "acts") {
			acts[name]()
			card := read(t, w, agent)
			lacks := []string{}
			for i, step := range card.Guide.Steps {
				fact, known := facts[step.Code]
				require.True(rt, known, step.Code)
				require.Equal(rt, w.Count(fact, agent.ID) > 0, step.Done, "%s after %s", step.Code, name)
				if i < profileSteps && !step.Done {
					lacks = append(lacks, step.Code)
				}
			}
			require.Equal(rt, lacks, codes(card), name)
			proven := func(all map[string]string) (found []string) {
				for _, one := range slices.Sorted(maps.Keys(all)) {
					if w.Count(all[one], agent.ID) > 0 {
						found = append(found, one)
					}
				}
				return found
			}
			require.ElementsMatch(rt, proven(holds), card.Lifecycle.HeldBy, name)
			status := "unverified"
			if w.Count(challenged, agent.ID) > 0 {
				status = "pending"
			}
			if w.Count(facts["verify_email"], agent.ID) > 0 {
				status = "verified"
			}
			require.Equal(rt, status, card.EmailVerification.Status, name)
			require.Equal(rt, w.Count(restricted, agent.ID) > 0, card.EmailVerification.Restricted, name)
			for _, ground := range card.Rewards.Grounds {
				if ground.Status == "granted" {
					require.Empty(rt, ground.Missing, name)
					require.EqualValues(rt, 1, w.Count("SELECT (SELECT count(*) FROM rewards WHERE bot_id = $1 AND ground = $2) + "+
						"(SELECT count(*) FROM ledger_entries WHERE bot_id = $1 AND kind = 'grant' AND $2 = 'registration')", agent.ID, ground.Ground))
					continue
				}
				require.ElementsMatch(rt, slices.DeleteFunc(slices.Clone(needed[ground.Ground]), func(code string) bool { return !slices.Contains(lacks, code) }),
					ground.Missing, "%s after %s", ground.Ground, name)
				require.ElementsMatch(rt, proven(reasons), ground.BlockedReasons, "%s after %s", ground.Ground, name)
			}
			require.Equal(rt, !slices.Equal(codes(before), lacks), before.Recommendations.Revision != card.Recommendations.Revision, name)
			require.Len(rt, announced(t, w, agent), int(card.Recommendations.Revision-1), name)
			pending := w.Count("SELECT count(*) FROM erasures WHERE bot_id = $1 AND cancelled_at IS NULL", agent.ID) > 0
			require.Equal(rt, pending, card.Lifecycle.Erasure != nil, name)
			before = card
		}
	})
}
