package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
)

// However many requests come at once, an agent has three webhooks at most.
func TestThreeAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	codes := graphtest.AtOnce(12, func(int) error {
		return graphtest.Err(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/")}))
	})
	require.Equal(t, map[fault.Code]int{"": webhooks.MaxPerAgent, fault.StateConflict: 9}, codes.Count())
	w.hook(other, "https://other.example/")
	made := graphtest.Got(w.Webhooks.MyWebhooks(agent.Ctx))(t).Webhooks
	graphtest.OK(t)(w.Webhooks.DeleteWebhook(agent.Ctx, webhooks.Input{WebhookID: made[0].ID.String()}))
	w.hook(agent, "https://agent.example/")
	require.Len(t, graphtest.Got(w.Webhooks.MyWebhooks(agent.Ctx))(t).Webhooks, webhooks.MaxPerAgent)
}

// From every state an agent can set its webhook to active or paused; waiting deliveries are sent only if it is active afterwards.
func TestStates(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, status(http.StatusInternalServerError))
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	w.delivered(e)
	for _, c := range []struct {
		from, sent, to string
		delivered      int
	}{
		{"active", "", "active", 1}, {"active", "active", "active", 1}, {"active", "paused", "paused", 0},
		{"paused", "", "paused", 0}, {"paused", "active", "active", 1}, {"paused", "paused", "paused", 0},
		{"failing", "", "failing", 0}, {"failing", "active", "active", 1}, {"failing", "paused", "paused", 0},
		{"gone", "", "gone", 0}, {"gone", "active", "active", 1}, {"gone", "paused", "paused", 0},
	} {
		w.Exec("DELETE FROM pending_deliveries")
		w.Exec("UPDATE webhooks SET state = $1", c.from)
		in := webhooks.UpdateInput{Kinds: []string{"contact.requested"}}
		if c.sent != "" {
			in.State = &c.sent
		}
		require.Equal(t, c.to, graphtest.Got(w.change(agent, hook.ID, in))(t).Webhook.State, "%+v", c)
		require.Len(t, w.delivered(e), c.delivered, "%+v", c)
		require.Len(t, w.queue(agent), 1)
	}
	for _, state := range []string{"failing", "gone", "", "Active", "deleted"} {
		graphtest.RefusedField(t, fault.InvalidInput, "state")(w.change(agent, hook.ID, webhooks.UpdateInput{State: &state}))
	}
}

// A webhook that is paused during an attempt gets no further request, however the attempt ends.
func TestPausedDuringAnAttempt(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusOK, http.StatusInternalServerError} {
		w := newWorld(t)
		agent := w.Agent()
		var hook *webhooks.Card
		e := newEndpoint(t, func(rw http.ResponseWriter, _ *http.Request) {
			if _, err := w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("paused")}); err == nil {
				rw.WriteHeader(code)
			}
		})
		hook = w.hook(agent, e.URL)
		w.tell(agent)
		require.Len(t, w.delivered(e), 1)
		require.Equal(t, "paused", w.card(agent, hook.ID).State)
		require.Len(t, w.queue(agent), code/100%2) // 1 after a failure, 0 after an acknowledgement
		w.Shift(time.Hour)
		require.Empty(t, w.delivered(e))
		require.Zero(t, w.Count("SELECT count(*) FROM pending_deliveries"))
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	w, strict := newWorld(t), newWorldWith(t, webhooks.SenderConfig{})
	agent, other := w.Agent(), strict.Agent()
	require.NotNil(t, w.hook(agent, "https://agent.example:8443/a%20b?c=d&e"))
	for _, url := range []string{
		"", "agent.example", "//agent.example", "ftp://agent.example/", "http://agent.example/", "http://10.0.0.1/", "https://", "https:///x",
		"https://user@agent.example/", "https://user:password@agent.example/", "https://agent.example/#a", "https://agent.example/#",
		"https://agent.example/a b", "https://agent.example/\n", "https://ägent.example/", "https:agent.example", "file:///etc/passwd",
		"https://agent.example/" + strings.Repeat("a", 2048), "https://agent.example:port/", "https://[::1", "http://localhost.example/",
	} {
		graphtest.RefusedField(t, fault.InvalidInput, "url", url)(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &url}))
	}
	for _, url := range []string{"http://127.0.0.1/", "http://localhost:81/", "http://[::1]/"} {
		_, err := strict.Webhooks.CreateWebhook(other.Ctx, webhooks.CreateInput{URL: &url})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "url", url)
	}
	for _, kinds := range [][]string{{}, {"webhook.test"}, {"message.created", "message.created"}, {"*"}, {""}} {
		_, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/"), Kinds: kinds})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "kinds", kinds)
	}
	for _, signing := range []string{"", "V1", "v2", "none"} {
		_, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/"), Signing: &signing})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "signing", signing)
	}
}

// Another agent's webhook is not found, and while webhooks are switched off no agent has any.
func TestWhoseWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	hook := w.hook(agent, "https://agent.example/")
	calls := func(by *graphtest.Agent) []error {
		in := webhooks.Input{WebhookID: hook.ID.String()}
		return []error{
			graphtest.Err(w.Webhooks.MyWebhook(by.Ctx, in)),
			graphtest.Err(w.Webhooks.UpdateWebhook(by.Ctx, webhooks.UpdateInput{WebhookID: in.WebhookID, State: graphtest.Ptr("paused")})),
			graphtest.Err(w.Webhooks.RotateWebhookSecret(by.Ctx, in)),
			graphtest.Err(w.Webhooks.TestWebhook(by.Ctx, in)),
			graphtest.Err(w.Webhooks.MyWebhookDeliveries(by.Ctx, webhooks.DeliveriesInput{WebhookID: in.WebhookID})),
			graphtest.Err(w.Webhooks.DeleteWebhook(by.Ctx, in)),
		}
	}
	for _, err := range calls(other) {
		graphtest.RequireFault(t, err, fault.NotFound)
	}
	require.Empty(t, graphtest.Got(w.Webhooks.MyWebhooks(other.Ctx))(t).Webhooks)

	w.Webhooks.Sender = nil
	for _, err := range calls(agent) {
		graphtest.RequireFault(t, err, fault.Forbidden)
	}
	graphtest.Refused(t, fault.Forbidden)(w.Webhooks.MyWebhooks(agent.Ctx))
	graphtest.Refused(t, fault.Forbidden)(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{}))
}
