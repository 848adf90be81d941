package webhooks_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/webhooks"
)

// operator is a context in which an operator is the caller.
func operator() context.Context {
	return viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
}

// as makes the agent call with that token.
func (w *world) as(agent *graphtest.Agent, token string) {
	v := graphtest.Got(w.Auth.Authenticate(context.Background(), token, false))(w.t)
	agent.Ctx = viewer.With(context.Background(), v)
}

// endings maps reasons to ways to end the tokens of an agent; each returns the agent's next token.
var endings = map[string]func(*world, *graphtest.Agent) string{
	"token_replaced": func(w *world, agent *graphtest.Agent) string {
		return graphtest.Got(w.Auth.RotateToken(agent.Ctx))(w.t).Token
	},
	"token_revoked": func(w *world, agent *graphtest.Agent) string {
		graphtest.OK(w.t)(w.Auth.RevokeToken(agent.Ctx))
		w.Exec("UPDATE tokens SET revoked_at = NULL WHERE id = $1", viewer.From(agent.Ctx).TokenID)
		return agent.Token
	},
	"token_reissued": func(w *world, agent *graphtest.Agent) string {
		return graphtest.Got(w.Operator.ReissueToken(operator(), agent.ID, "it lost its token"))(w.t).Token
	},
	"suspended": func(w *world, agent *graphtest.Agent) string {
		graphtest.OK(w.t)(w.Operator.SuspendBot(operator(), agent.ID, nil, "spam"))
		graphtest.OK(w.t)(w.Operator.ReinstateBot(operator(), agent.ID, "a mistake"))
		return agent.Token
	},
}

// Every end of an agent's tokens pauses its webhooks in any state: nothing is sent to them, running attempts acknowledge nothing,
// and their secrets are void, until the agent switches them on.
func TestTheEndOfTokensPausesWebhooks(t *testing.T) {
	t.Parallel()
	for reason, end := range endings {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			agent, bystander := w.Agent(), w.Agent()
			var token string
			e := newEndpoint(t, func(http.ResponseWriter, *http.Request) { token = end(w, agent) })
			made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL, Signing: graphtest.Ptr("v1")}))(t)
			id := w.tested(made.Webhook).ID
			newer := graphtest.Got(w.Webhooks.RotateWebhookSecret(agent.Ctx, webhooks.Input{WebhookID: id.String()}))(t)
			second, others := w.hook(agent, "https://agent.example/"), w.hook(bystander, "https://other.example/")
			w.Exec("UPDATE webhooks SET state = 'gone' WHERE id = $1", second.ID)
			w.tell(agent)
			require.Len(t, w.delivered(e), 1)
			require.NotEmpty(t, token)
			w.as(agent, token)
			require.Len(t, w.queue(agent), 1, "the endpoint's answer has no effect")
			record := w.deliveries(agent, id)
			require.Len(t, record, 1)
			require.Equal(t, "paused", *record[0].Error)
			require.Equal(t, http.StatusOK, *record[0].Status)
			for _, hook := range []*webhooks.Card{made.Webhook, second} {
				card := w.card(agent, hook.ID)
				require.Equal(t, "paused", card.State)
				require.Equal(t, reason, card.LastFailure.Error)
				require.Nil(t, card.LastFailure.Status)
				require.WithinDuration(t, w.Now(), card.LastFailure.At, time.Minute)
			}
			require.Equal(t, "active", w.card(bystander, others.ID).State)

			e.answers(status(http.StatusInternalServerError))
			w.tell(agent)
			w.Shift(time.Hour)
			require.Empty(t, w.delivered(e))
			require.Zero(t, w.Count("SELECT count(*) FROM pending_deliveries WHERE webhook_id = $1", id))
			graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: id.String()}))
			require.Len(t, w.delivered(e), 1)
			require.Equal(t, reason, w.card(agent, id).LastFailure.Error, "a test does not hide the reason")

			e.answers(nil)
			graphtest.OK(t)(w.change(agent, id, webhooks.UpdateInput{State: graphtest.Ptr("active")}))
			got := w.delivered(e)
			require.Len(t, got, 2)
			require.False(t, got[0].verifies(t, *made.Secret) || got[0].verifies(t, *newer.Secret), "both secrets of the rotation are void")
			require.Empty(t, w.queue(agent))
			rotated := graphtest.Got(w.Webhooks.RotateWebhookSecret(agent.Ctx, webhooks.Input{WebhookID: id.String()}))(t)
			w.tell(agent)
			got = w.delivered(e)
			require.Len(t, got, 1)
			require.True(t, got[0].verifies(t, *rotated.Secret))
			require.False(t, got[0].verifies(t, *made.Secret) || got[0].verifies(t, *newer.Secret), "also within the day after a rotation")
		})
	}
}

// An agent that has another token keeps its webhooks, until the last one is revoked.
func TestRevokingOneOfTwoTokensPausesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	hook := w.hook(agent, "https://agent.example/")
	w.Exec(`INSERT INTO tokens (id, created_at, hash, expires_at, bot_id)
		SELECT gen_random_uuid(), stoa_now(), sha256('second'), stoa_now() + interval '1 day', $1`, agent.ID)
	graphtest.OK(t)(w.Auth.RevokeToken(agent.Ctx))
	require.Equal(t, "active", w.card(agent, hook.ID).State)
	other := w.Agent()
	hook = w.hook(other, "https://other.example/")
	w.Exec(`INSERT INTO tokens (id, created_at, hash, expires_at, bot_id)
		SELECT gen_random_uuid(), stoa_now(), sha256('third'), stoa_now() - interval '1 second', $1`, other.ID)
	graphtest.OK(t)(w.Auth.RevokeToken(other.Ctx))
	require.Equal(t, "paused", w.card(other, hook.ID).State, "an expired token is none")
}

// A request that was authenticated before the token ended changes nothing afterwards, so a thief leaves no webhook behind.
func TestChangesWithAnEndedTokenComeTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	hook := w.hook(agent, "https://agent.example/")
	calls := func() []error {
		in := webhooks.Input{WebhookID: hook.ID.String()}
		return []error{
			graphtest.Err(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://thief.example/")})),
			graphtest.Err(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")})),
			graphtest.Err(w.Webhooks.RotateWebhookSecret(agent.Ctx, in)),
			graphtest.Err(w.Webhooks.TestWebhook(agent.Ctx, in)),
			graphtest.Err(w.Webhooks.DeleteWebhook(agent.Ctx, in)),
		}
	}
	graphtest.OK(t)(w.Operator.SuspendBot(operator(), agent.ID, nil, "spam"))
	for _, err := range calls() {
		graphtest.RequireFault(t, err, fault.Forbidden)
	}
	graphtest.OK(t)(w.Operator.ReinstateBot(operator(), agent.ID, "a mistake"))
	graphtest.OK(t)(w.Auth.RotateToken(agent.Ctx))
	for _, err := range calls() {
		graphtest.RequireFault(t, err, fault.Unauthorized)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM webhooks WHERE state = 'paused'"))
}
