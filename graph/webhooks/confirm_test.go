package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/webhooks"
)

// kinds returns the kinds of the received requests.
func kinds(t *testing.T, got []request) (all []string) {
	t.Helper()
	for _, r := range got {
		kind, _ := r.content(t)
		all = append(all, kind)
	}
	return all
}

// A new or changed address gets only a test, which is retried like an event, until the address has answered one with 2xx.
func TestANewAddressIsTestedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	first, second := newEndpoint(t, status(http.StatusServiceUnavailable)), newEndpoint(t, status(http.StatusNotFound))
	hook := w.untested(agent, first.URL)
	for i, e := range []*endpoint{first, second} {
		if i > 0 {
			graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{URL: &e.URL}))
		}
		w.tell(agent)
		waiting := w.queue(agent)
		got := w.delivered(e)
		require.Equal(t, []string{"webhook.test"}, kinds(t, got))
		id := got[0].id()
		for n, wait := range waits[:2] {
			last := w.deliveries(agent, hook.ID)[0]
			require.Equal(t, n+1, last.Attempt)
			require.Equal(t, wait, last.NextAttemptAt.Sub(last.CreatedAt))
			w.Shift(wait)
			got = w.delivered(e)
			require.Equal(t, []string{"webhook.test"}, kinds(t, got))
			require.Equal(t, id, got[0].id(), "the same test")
		}
		require.Equal(t, waiting, w.queue(agent))
		e.answers(nil)
		w.Shift(waits[2])
		require.Equal(t, []string{"webhook.test", "contact.requested"}, kinds(t, w.delivered(e)))
		require.Empty(t, w.queue(agent))
		w.tell(agent)
		require.Equal(t, []string{"contact.requested"}, kinds(t, w.delivered(e)))
	}
	require.Empty(t, first.take())

	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{URL: &second.URL, State: graphtest.Ptr("active")}))
	w.tell(agent)
	require.Equal(t, []string{"contact.requested"}, kinds(t, w.delivered(second)), "the same address needs no other test")
}

// An address that never answers its test is given up like one that never accepts an event. Switching the webhook on begins anew.
func TestAnAddressThatFailsItsTest(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, status(http.StatusInternalServerError))
	hook := w.untested(agent, e.URL)
	w.DeliverWebhooks()
	for _, wait := range waits {
		w.Shift(wait)
		w.DeliverWebhooks()
	}
	require.Len(t, e.take(), len(waits)+1)
	require.Equal(t, "failing", w.card(agent, hook.ID).State)
	e.answers(nil)
	w.Shift(24 * time.Hour)
	require.Empty(t, w.delivered(e))
	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")}))
	w.tell(agent)
	require.Equal(t, []string{"webhook.test", "contact.requested"}, kinds(t, w.delivered(e)))
}

// A webhook that is paused before its test gets only a test that its agent asks for, which also confirms the address.
func TestAPausedWebhookIsTestedOnRequestOnly(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.untested(agent, e.URL)
	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("paused")}))
	w.tell(agent)
	require.Empty(t, w.delivered(e))
	graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))
	require.Equal(t, []string{"webhook.test"}, kinds(t, w.delivered(e)))
	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")}))
	require.Equal(t, []string{"contact.requested"}, kinds(t, w.delivered(e)))
}

// The answer to a test of one address does not confirm another address that was set meanwhile.
func TestAnAddressChangedDuringItsTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	var hook *webhooks.Card
	victim := newEndpoint(t, status(http.StatusInternalServerError))
	e := newEndpoint(t, func(rw http.ResponseWriter, _ *http.Request) {
		if _, err := w.change(agent, hook.ID, webhooks.UpdateInput{URL: &victim.URL}); err != nil {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	})
	hook = w.untested(agent, e.URL)
	w.tell(agent)
	w.DeliverWebhooks()
	w.Shift(waits[0])
	require.Len(t, w.delivered(e), 1)
	require.Equal(t, []string{"webhook.test", "webhook.test"}, kinds(t, victim.take()))
	require.Len(t, w.queue(agent), 1)
}

// However often a test is asked for, only one waits for a webhook.
func TestOneTestWaits(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.untested(agent, e.URL)
	ask := func() string {
		test := graphtest.Got(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))(t)
		return test.EventID.String()
	}
	id := ask()
	for range 5 {
		require.Equal(t, id, ask())
	}
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM pending_deliveries"))
	got := w.delivered(e)
	require.Len(t, got, 1)
	require.Equal(t, id, got[0].id())
	require.NotEqual(t, id, ask())
	require.Len(t, w.delivered(e), 1)
}
