package webhooks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/webhooks"
)

// caused adds an order.changed event to an agent that acted itself.
func (w *world) caused(agent *graphtest.Agent, version int) {
	w.t.Helper()
	payload := events.OrderPayload{OrderID: agent.ID, Status: "funded", Version: version, Action: "accept", ActorID: agent.ID}
	require.NoError(w.t, w.DB.Tx(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return w.Events.Add(ctx, tx, events.Event{Recipient: agent.ID, Kind: events.OrderChanged, Payload: payload})
	}))
}

// hookWithoutOwn makes a webhook that leaves out own acts, of kinds.
func (w *world) hookWithoutOwn(agent *graphtest.Agent, url string, kinds ...string) *webhooks.Card {
	w.t.Helper()
	made, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &url, Kinds: kinds, Own: new(false)})
	require.NoError(w.t, err)
	require.False(w.t, made.Webhook.Own)
	return w.tested(made.Webhook)
}

// A webhook acknowledges only its own kinds, also if the event that it was to send is gone and an own act follows it.
func TestAWebhookAcknowledgesNoKindThatItDoesNotTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	endpoint := newEndpoint(t, nil)
	w.hookWithoutOwn(agent, endpoint.URL, "contact.requested")
	w.tell(agent)
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	requested := w.queue(agent)
	w.caused(agent, 1)
	graphtest.OK(t)(w.Events.AcknowledgeEvents(agent.Ctx, events.AcknowledgeInput{EventIDs: requested}))
	w.DeliverWebhooks()
	require.Empty(t, endpoint.take())
	require.Len(t, w.queue(agent), 1)
}

// An own act needs no attempt, so failures of the endpoint do not hold it up.
func TestOwnActsAreAcknowledgedWhileTheEndpointFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	endpoint := newEndpoint(t, status(503))
	hook := w.hookWithoutOwn(agent, endpoint.URL)
	w.Exec("DELETE FROM events")
	w.tell(agent)
	others := w.queue(agent)
	w.caused(agent, 1)
	w.caused(agent, 2)
	w.DeliverWebhooks()
	require.Equal(t, others, w.queue(agent))
	require.Len(t, endpoint.take(), 1)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM pending_deliveries"))

	// A change of own applies to later events.
	graphtest.OK(t)(w.Webhooks.UpdateWebhook(agent.Ctx, webhooks.UpdateInput{WebhookID: hook.ID.String(), Own: new(true)}))
	endpoint.answers(nil)
	w.caused(agent, 3)
	w.DeliverWebhooks()
	require.Len(t, endpoint.take(), 2)
	require.Empty(t, w.queue(agent))
}
