package webhooks_test

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/webhooks"
)

// waits are the waits of §4.12.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

// An endpoint that fails is tried again after each wait of the table and not before. After the last attempt the webhook is
// failing and the event is still there; switching the webhook on begins anew.
func TestRetries(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, status(http.StatusInternalServerError))
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	ids := w.queue(agent)
	require.Len(t, w.delivered(e), 1)
	rest := slack.Of(2 * time.Second)
	for i, wait := range waits {
		last := w.deliveries(agent, hook.ID)[0]
		require.Equal(t, i+1, last.Attempt)
		require.Equal(t, "status", *last.Error)
		require.Equal(t, http.StatusInternalServerError, *last.Status)
		require.Equal(t, wait, last.NextAttemptAt.Sub(last.CreatedAt))
		require.Equal(t, "active", w.card(agent, hook.ID).State)
		w.Shift(wait - rest)
		require.Empty(t, w.delivered(e), "before the wait of %v is over", wait)
		w.Shift(rest)
		got := w.delivered(e)
		require.Len(t, got, 1, "after a wait of %v", wait)
		require.Equal(t, ids[0], got[0].id())
	}
	require.Nil(t, w.deliveries(agent, hook.ID)[0].NextAttemptAt)
	require.Len(t, w.deliveries(agent, hook.ID), 10)
	failing := w.card(agent, hook.ID)
	require.Equal(t, "failing", failing.State)
	require.Equal(t, "status", failing.LastFailure.Error)
	require.Nil(t, failing.LastSuccessAt)
	require.Equal(t, ids, w.queue(agent))
	w.Shift(48 * time.Hour)
	w.tell(agent)
	require.Empty(t, w.delivered(e), "nothing is sent to a webhook that is failing")

	e.answers(nil)
	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")}))
	require.Len(t, w.delivered(e), 2)
	require.Empty(t, w.queue(agent))
	require.Equal(t, 1, w.deliveries(agent, hook.ID)[0].Attempt)
	require.NotNil(t, w.card(agent, hook.ID).LastSuccessAt)
}

// The status of an answer decides, or its absence, whatever the body.
func TestAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := newEndpoint(t, nil)
	redirect := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, code) }
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	endless := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	listener := graphtest.Got(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t) // it accepts connections and says nothing
	t.Cleanup(func() { _ = listener.Close() })
	urls := map[string]string{
		"silent": "http://" + listener.Addr().String(), "silent, TLS": "https://" + listener.Addr().String(), "down": "http://" + graphtest.Address(),
	}
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Write([]byte(text))
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		error  string
	}{
		"200":             {status(200), 200, ""},
		"202":             {status(202), 202, ""},
		"299":             {status(299), 299, ""},
		"endless 200":     {endless(200), 200, ""},
		"200, no end":     {drip, 200, ""},
		"300":             {status(300), 300, "redirect"},
		"301":             {redirect(301), 301, "redirect"},
		"302":             {redirect(302), 302, "redirect"},
		"304":             {status(304), 304, "redirect"},
		"307":             {redirect(307), 307, "redirect"},
		"308":             {redirect(308), 308, "redirect"},
		"400":             {status(400), 400, "status"},
		"404":             {status(404), 404, "status"},
		"410":             {status(410), 410, "gone"},
		"429":             {status(429), 429, "status"},
		"endless 500":     {endless(500), 500, "status"},
		"503":             {status(503), 503, "status"},
		"hangs":           {hang, 0, "timeout"},
		"silent":          {nil, 0, "timeout"},
		"silent, TLS":     {nil, 0, "timeout"},
		"down":            {nil, 0, "no_answer"},
		"cut":             {cut, 0, "no_answer"},
		"no HTTP":         {raw("SSH-2.0-x\r\n"), 0, "no_answer"},
		"large header":    {raw("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"), 0, "no_answer"},
		"many interim":    {raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000) + "HTTP/1.1 200 OK\r\n\r\n"), 0, "no_answer"},
		"upgrade for all": {raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"), 101, "status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := webhooks.SenderConfig{AllowLoopback: true}
			if c.error == "timeout" || name == "200, no end" { // only this limit ends these; a busy machine must not end the others
				config.Timeout = impatient
			}
			w := newWorldWith(t, config)
			e, agent := newEndpoint(t, c.answer), w.Agent()
			hook := w.hook(agent, cmp.Or(urls[name], e.URL))
			w.tell(agent)
			w.DeliverWebhooks()
			all := w.deliveries(agent, hook.ID)
			d := all[len(all)-1] // a busy machine makes the next attempt, too
			require.Empty(t, elsewhere.take())
			if c.status == 0 {
				require.Nil(t, d.Status)
			} else {
				require.Equal(t, c.status, *d.Status)
			}
			card := w.card(agent, hook.ID)
			if c.error == "" {
				require.Nil(t, d.Error)
				require.Nil(t, d.NextAttemptAt)
				require.Empty(t, w.queue(agent))
				require.NotNil(t, card.LastSuccessAt)
				require.Nil(t, card.LastFailure)
				return
			}
			require.Equal(t, c.error, *d.Error)
			require.Len(t, w.queue(agent), 1)
			require.Equal(t, c.error, card.LastFailure.Error)
			if c.error == "gone" {
				require.Equal(t, "gone", card.State)
				require.Nil(t, d.NextAttemptAt)
			} else {
				require.Equal(t, 5*time.Second, d.NextAttemptAt.Sub(d.CreatedAt))
			}
		})
	}
}

// A queue that is longer than one round (1000 events, 256 deliveries) reaches a new webhook whole and in order, past other kinds.
func TestALongQueue(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now() - interval '1 hour', $1, CASE WHEN n % 4 = 0 THEN 'order.changed' ELSE 'contact.blocked' END, '{}'
		FROM generate_series(1, 1600) AS n`, agent.ID)
	w.hook(agent, e.URL, "order.changed")
	require.Len(t, w.delivered(e), 400)
	require.EqualValues(t, 1200, w.Count("SELECT count(*) FROM events"))
	require.Zero(t, w.Count("SELECT count(*) FROM pending_deliveries"))
	w.tell(agent)
	w.hook(agent, e.URL, "contact.requested")
	require.Len(t, w.delivered(e), 1)
}

// An endpoint gets no request before the end of its Retry-After, neither the repeat nor another delivery.
func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, agent := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusServiceUnavailable)
	}), w.Agent()
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	require.Len(t, w.delivered(e), 1)
	d := w.deliveries(agent, hook.ID)[0]
	require.Equal(t, 2*time.Minute, d.NextAttemptAt.Sub(d.CreatedAt))
	w.tell(agent)
	rest := slack.Of(2 * time.Second)
	w.Shift(2*time.Minute - rest)
	require.Empty(t, w.delivered(e))
	e.answers(nil)
	w.Shift(rest)
	require.Len(t, w.delivered(e), 2)
	require.Empty(t, w.queue(agent))
}

// A new webhook gets the waiting events of its kinds, oldest first; after a change of the kinds it gets the rest.
func TestTheBacklogIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, agent, friend := newEndpoint(t, nil), w.Agent(), w.Agent()
	w.Befriend(agent, friend)
	w.tell(agent)
	w.tell(agent)
	before := w.queue(agent)
	hook := w.hook(agent, e.URL, "contact.requested")
	got := w.delivered(e)
	require.Len(t, got, 2)
	for i, id := range before[1:] {
		require.Equal(t, id, got[i].id(), "in the order of the queue")
	}
	kind, data := got[0].content(t)
	require.Equal(t, "contact.requested", kind)
	require.Equal(t, "incoming", data["friendship_status"])
	require.Equal(t, before[:1], w.queue(agent))
	graphtest.OK(t)(w.change(agent, hook.ID, webhooks.UpdateInput{Kinds: []string{"contact.accepted"}}))
	require.Len(t, w.delivered(e), 1)
	require.Empty(t, w.queue(agent))
}

// A message is delivered as its sealed record, and not at all if its sender was blocked meanwhile.
func TestMessagesStaySealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, agent, friend := newEndpoint(t, status(http.StatusTeapot)), w.Agent(), w.Agent()
	contact := w.Befriend(friend, agent)
	w.hook(agent, e.URL)
	sent := w.Sent(friend, agent)
	w.DeliverWebhooks()
	var found map[string]any
	for _, r := range e.take() {
		if kind, data := r.content(t); kind == "message.created" {
			found = data
		}
	}
	require.NotNil(t, found)
	message := found["message"].(map[string]any)
	require.Equal(t, sent.ID.String(), message["id"])
	require.Equal(t, "box-v1", message["encryption_version"])
	require.NotEmpty(t, message["ciphertext"])
	graphtest.OK(t)(w.Contacts.BlockContact(agent.Ctx, contacts.ActInput{ContactID: contact.String()}))
	e.answers(nil)
	w.Shift(time.Minute)
	w.DeliverWebhooks()
	for _, r := range e.take() {
		kind, _ := r.content(t)
		require.NotEqual(t, "message.created", kind)
	}
	require.Zero(t, w.Count("SELECT count(*) FROM pending_deliveries"))
}

// An event that was acknowledged elsewhere is not retried. The acknowledgement of one webhook counts for the agent's others.
func TestAcknowledgementsAreShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down, up, agent := newEndpoint(t, status(http.StatusBadGateway)), newEndpoint(t, nil), w.Agent()
	hook := w.hook(agent, down.URL)
	w.tell(agent)
	require.Len(t, w.delivered(down), 1)
	w.hook(agent, up.URL)
	require.Len(t, w.delivered(up), 1)
	require.Empty(t, w.queue(agent))
	w.Shift(time.Hour)
	require.Empty(t, w.delivered(down))
	require.Len(t, w.deliveries(agent, hook.ID), 1)
}

// A test reaches a webhook in any state, is no event, and is not tried again.
func TestTests(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, status(http.StatusForbidden))
	hook := w.hook(agent, e.URL)
	for _, state := range []string{"active", "paused", "failing", "gone"} {
		w.Exec("UPDATE webhooks SET state = $1", state)
		test := graphtest.Got(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))(t)
		got := w.delivered(e)
		require.Len(t, got, 1)
		require.Equal(t, test.EventID.String(), got[0].id())
		kind, data := got[0].content(t)
		require.Equal(t, "webhook.test", kind)
		require.Equal(t, map[string]any{"webhook_id": hook.ID.String()}, data)
		d := w.deliveries(agent, hook.ID)[0]
		require.Equal(t, test.EventID, d.EventID)
		require.Nil(t, d.NextAttemptAt)
		require.Equal(t, state, w.card(agent, hook.ID).State)
		require.Empty(t, w.queue(agent))
	}
	w.Exec("UPDATE webhooks SET state = 'paused'")
	e.answers(status(http.StatusGone))
	graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))
	w.DeliverWebhooks()
	require.Equal(t, "gone", w.card(agent, hook.ID).State)
}

// If a process dies before it stores an attempt, the delivery is retried under the same id once the claim has expired.
func TestACrashBetweenAttemptAndNote(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	ids := w.queue(agent)
	w.AskedJobs()
	w.Exec("UPDATE webhooks SET queued_until = NULL, claimed_until = stoa_now() + interval '1 minute', due_at = stoa_now() + interval '1 minute'")
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	w.Exec("UPDATE pending_deliveries SET attempts = 1")
	require.NoError(t, w.Webhooks.Deliver(t.Context(), hook.ID))
	require.Empty(t, w.delivered(e), "another process is delivering to it")
	w.Shift(61 * time.Second)
	got := w.delivered(e)
	require.Len(t, got, 1)
	require.Equal(t, ids[0], got[0].id())
	require.Equal(t, 2, w.deliveries(agent, hook.ID)[0].Attempt)
	require.Empty(t, w.queue(agent))
}

// A process whose operator has not switched webhooks on yet leaves the job to one that has.
func TestAProcessWithoutWebhooksLeavesTheJob(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	require.NotEmpty(t, w.AskedJobs())
	on := w.Webhooks.Sender
	w.Webhooks.Sender = nil
	require.NoError(t, w.Webhooks.Deliver(t.Context(), hook.ID))
	w.Webhooks.Sender = on
	require.Empty(t, w.delivered(e))
	w.Shift(6 * time.Second)
	require.Len(t, w.delivered(e), 1)
}

// A shutdown in the middle of an attempt takes the attempt back.
func TestAShutdownCountsNoAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	e, agent := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}), w.Agent()
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	require.ErrorIs(t, w.Webhooks.Deliver(ctx, hook.ID), context.Canceled)
	require.Len(t, e.take(), 1)
	require.Empty(t, w.deliveries(agent, hook.ID))
	e.answers(nil)
	w.DeliverWebhooks()
	require.Equal(t, 1, w.deliveries(agent, hook.ID)[0].Attempt)
}

// Nothing is sent for an agent that is suspended or in the trash; events of that time are sent once it is back.
func TestTheTrashStopsDeliveries(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	w.hook(agent, e.URL)
	for off, on := range map[string]string{"state = 'trash'": "state = 'active'", "suspended_at = stoa_now()": "suspended_at = NULL"} {
		w.tell(agent)
		w.Exec("UPDATE bots SET "+off+" WHERE id = $1", agent.ID)
		require.Empty(t, w.delivered(e), off)
		w.Exec("UPDATE bots SET "+on+" WHERE id = $1", agent.ID)
		w.Shift(time.Hour)
		require.Len(t, w.delivered(e), 1, on)
	}
}

// The deletion of an agent also deletes its webhooks, pending deliveries and records of attempts.
func TestNothingOfADeletedWebhookStays(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, status(http.StatusInternalServerError))
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	w.DeliverWebhooks()
	e.answers(func(rw http.ResponseWriter, _ *http.Request) {
		_, err := w.Webhooks.DeleteWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()})
		if err != nil {
			rw.WriteHeader(http.StatusConflict)
		}
	})
	w.Shift(5 * time.Second)
	w.DeliverWebhooks()
	require.Zero(t, w.Count("SELECT (SELECT count(*) FROM webhooks) + (SELECT count(*) FROM pending_deliveries) + (SELECT count(*) FROM webhook_deliveries)"))
	require.Len(t, w.queue(agent), 1, "an attempt of a webhook that was deleted during it acknowledges nothing")
	graphtest.Refused(t, fault.NotFound)(w.Webhooks.DeleteWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))
}

// The records of attempts are kept for a week.
func TestOldDeliveriesAreDeleted(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	w.DeliverWebhooks()
	w.Shift(webhooks.DeliveryRetention - time.Hour)
	n := graphtest.Got(w.Webhooks.DeleteOldDeliveries(t.Context()))(t)
	require.Zero(t, n)
	w.Shift(2 * time.Hour)
	n = graphtest.Got(w.Webhooks.DeleteOldDeliveries(t.Context()))(t)
	require.EqualValues(t, 1, n)
	require.Empty(t, w.deliveries(agent, hook.ID))
}

// Pages of attempts follow each other without gap or overlap.
func TestPagesOfDeliveries(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.hook(agent, e.URL)
	for n := range 150 {
		w.Exec(`INSERT INTO webhook_deliveries (id, created_at, webhook_id, event_id, kind, attempt)
			VALUES (gen_random_uuid(), stoa_now() - $2::int * interval '1 second', $1, gen_random_uuid(), 'order.changed', 1)`, hook.ID, n/3)
	}
	seen := map[uuid.UUID]bool{}
	in := webhooks.DeliveriesInput{WebhookID: hook.ID.String()}
	for {
		found := graphtest.Got(w.Webhooks.MyWebhookDeliveries(agent.Ctx, in))(t)
		for _, d := range found.Deliveries {
			require.False(t, seen[d.ID])
			seen[d.ID] = true
		}
		if found.NextBefore == nil {
			break
		}
		in.Before = []string{found.NextBefore.String()}
	}
	require.Len(t, seen, 150)
	in.Before = []string{uuid.NewString()}
	graphtest.Refused(t, fault.NotFound)(w.Webhooks.MyWebhookDeliveries(agent.Ctx, in))
}
