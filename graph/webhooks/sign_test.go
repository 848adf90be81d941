package webhooks_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
)

// signed returns the bytes that are signed.
func (r request) signed() []byte {
	return []byte(r.id() + "." + r.header.Get("webhook-timestamp") + "." + string(r.body))
}

// verifies reports whether a secret verifies one of the signatures, as a receiver checks it.
func (r request) verifies(t *testing.T, secret string) bool {
	t.Helper()
	key := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")))(t)
	mac := hmac.New(sha256.New, key)
	mac.Write(r.signed())
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.SplitSeq(r.header.Get("webhook-signature"), " ") {
		if signature == want {
			return true
		}
	}
	return false
}

// A receiver verifies a delivery with the published key alone.
func TestThePublishedKeyVerifiesDeliveries(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	made, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr(e.URL + "/hook?token=1"), Signing: graphtest.Ptr("v1a")})
	require.NoError(t, err)
	w.tested(made.Webhook)
	w.tell(agent)
	ids := w.queue(agent)
	got := w.delivered(e)
	require.Len(t, got, 1)
	require.Len(t, ids, 1)
	require.Equal(t, ids[0], got[0].id(), "the webhook's id is the event's")
	require.Equal(t, "application/json", got[0].header.Get("Content-Type"))
	var body map[string]any
	require.NoError(t, json.Unmarshal(got[0].body, &body))
	require.Equal(t, []any{agent.ID.String(), made.Webhook.ID.String()}, []any{body["bot_id"], body["webhook_id"]}, "it says for whom it is")
	seconds := graphtest.Got(strconv.ParseInt(got[0].header.Get("webhook-timestamp"), 10, 64))(t)
	require.WithinDuration(t, w.Now(), time.Unix(seconds, 0), time.Minute)

	kind, signature, _ := strings.Cut(got[0].header.Get("webhook-signature"), ",")
	require.Equal(t, "v1a", kind)
	raw := graphtest.Got(base64.StdEncoding.DecodeString(signature))(t)
	keys := w.Webhooks.PublishedKeys().Keys
	require.Len(t, keys, 1)
	public := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(keys[0].PublicKey, "whpk_")))(t)
	require.True(t, ed25519.Verify(public, got[0].signed(), raw))
	require.Equal(t, keys[0].X, base64.RawURLEncoding.EncodeToString(public))
	altered := got[0].signed()
	altered[len(altered)-2]++
	require.False(t, ed25519.Verify(public, altered, raw))
	require.Empty(t, w.queue(agent), "2xx acknowledges")

	again := newWorld(t)
	require.Equal(t, w.Webhooks.PublishedKeys(), again.Webhooks.PublishedKeys(), "processes with one key sign alike")
}

// For a day after a rotation both secrets verify, so that a receiver can change its own in between.
func TestRotationOverlaps(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL}))(t)
	require.Equal(t, "v1", made.Webhook.Signing, "libraries of Standard Webhooks support only that")
	w.tested(made.Webhook)
	first := *made.Secret
	send := func() request {
		w.tell(agent)
		got := w.delivered(e)
		require.Len(t, got, 1)
		return got[0]
	}
	require.True(t, send().verifies(t, first))
	rotated := graphtest.Got(w.Webhooks.RotateWebhookSecret(agent.Ctx, webhooks.Input{WebhookID: made.Webhook.ID.String()}))(t)
	second := *rotated.Secret
	require.NotEqual(t, first, second)
	both := send()
	require.True(t, both.verifies(t, first))
	require.True(t, both.verifies(t, second))
	w.Shift(25 * time.Hour)
	after := send()
	require.False(t, after.verifies(t, first))
	require.True(t, after.verifies(t, second))

	other := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL, Signing: graphtest.Ptr("v1a")}))(t)
	require.Nil(t, other.Secret, "the server's key signs")
	_, err := w.Webhooks.RotateWebhookSecret(agent.Ctx, webhooks.Input{WebhookID: other.Webhook.ID.String()})
	graphtest.RequireFault(t, err, fault.StateConflict)
}

// forget drops all jobs, as if none had been added.
func (w *world) forget() {
	w.AskedJobs()
	w.Exec("UPDATE webhooks SET queued_until = NULL, due_at = stoa_now()")
}

// asked returns the webhooks whose jobs Queue adds.
func (w *world) asked() (all []uuid.UUID) {
	require.NoError(w.t, w.Webhooks.Queue(w.t.Context(), webhooks.Scope{}))
	for _, job := range w.AskedJobs() {
		all = append(all, job.(webhooks.DeliverJob).WebhookID)
	}
	return all
}

// The more time an agent's deliveries took, the lower is the priority of its job.
func TestPriorities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.hook(agent, "https://agent.example/")
	w.tell(agent)
	for _, c := range []struct {
		used float64
		want int
	}{{0, 1}, {9, 1}, {11, 2}, {25, 3}, {35, 4}, {1000, 4}} {
		w.forget()
		w.Exec(`INSERT INTO webhook_time VALUES ($1, $2, stoa_now()) ON CONFLICT (bot_id) DO UPDATE SET used_seconds = $2, noted_at = stoa_now()`,
			agent.ID, c.used)
		require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
		asked := w.AskedJobs()
		require.Len(t, asked, 1)
		require.Equal(t, c.want, asked[0].(webhooks.DeliverJob).Priority(), "%+v", c)
	}
}

// An agent's webhooks with prompt endpoints are served one at a time, each in turn, however often Queue is called; slow ones are
// served concurrently.
func TestOneOfAnAgentAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	e := newEndpoint(t, nil)
	var ids []uuid.UUID
	for range 3 {
		ids = append(ids, w.hook(agent, e.URL).ID)
	}
	theirs := w.hook(other, e.URL).ID
	w.tell(agent)
	w.tell(other)
	w.Exec("UPDATE webhooks SET prompt = id <> $1", ids[2])
	w.forget()
	first := w.asked()
	require.Len(t, first, 3)
	require.Contains(t, first, ids[2], "the slow one")
	require.Contains(t, first, theirs)
	for range 3 {
		w.Shift(time.Second)
		require.Empty(t, w.asked(), "one is queued")
	}
	served, waits := ids[0], ids[1]
	if !slices.Contains(first, served) {
		served, waits = waits, served
	}
	w.Exec("UPDATE webhooks SET claimed_until = stoa_now() + interval '1 minute', queued_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits))
	require.Empty(t, e.take(), "the other is being served")
	w.Exec("UPDATE webhooks SET claimed_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits))
	require.Len(t, e.take(), 1)
}

// A round checks at most a hundred webhooks, and webhooks that cannot be served do not hold up the others. The round of every
// second is repeated, so that events of many agents do not wait for it.
func TestARoundIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, held := w.Agent(), w.Agent()
	insert := func(of *graphtest.Agent, n int, notBefore string) {
		w.Exec(fmt.Sprintf(`WITH made AS (
			INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, confirmed_at, due_at, not_before)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'https://agent.example/', 'agent.example', '["order.rated"]', 'v1a', stoa_now(),
				stoa_now() - interval '1 hour', %s FROM generate_series(1, $2) RETURNING id
		) INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
		SELECT m.id, gen_random_uuid(), 'order.rated', 1, stoa_now(), stoa_now() - interval '1 hour' FROM made m, generate_series(1, 20)`, notBefore), of.ID, n)
	}
	insert(held, 150, "stoa_now() + interval '1 day'")
	insert(agent, 250, "NULL")
	var all []int
	seen := 0
	for range 6 {
		n := len(w.asked())
		all = append(all, n)
		seen += n
		require.LessOrEqual(t, n, 100)
	}
	require.Equal(t, 250, seen, "%v", all)
	require.Zero(t, w.Count("SELECT count(*) FROM webhooks WHERE due_at <= stoa_now()"))

	insert(agent, 250, "NULL")
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{Recent: true}))
	require.Len(t, w.AskedJobs(), 250)
}

// After any events in any order, every waiting delivery is checked in time: none is forgotten.
func TestNoDeliveryIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		agent := w.Agent()
		e := newEndpoint(t, nil)
		hooks := []*webhooks.Card{w.untested(agent, e.URL), w.hook(agent, e.URL)}
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			hook := hooks[rapid.IntRange(0, 1).Draw(r, "hook")]
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0:
				w.tell(agent)
			case 1:
				require.NoError(r, w.Webhooks.Queue(t.Context(), webhooks.Scope{Recent: true}))
			case 2:
				state := rapid.SampledFrom([]string{"active", "paused"}).Draw(r, "state")
				graphtest.OK(r)(w.change(agent, hook.ID, webhooks.UpdateInput{State: &state}))
			case 3:
				e.answers(status(rapid.SampledFrom([]int{200, 500, 503}).Draw(r, "status")))
			case 4:
				graphtest.OK(r)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))
			case 5:
				require.NoError(r, w.Webhooks.Deliver(t.Context(), hook.ID))
			case 6:
				w.Shift(time.Duration(rapid.IntRange(0, 600).Draw(r, "seconds")) * time.Second)
			}
		}
		e.answers(nil)
		for _, hook := range hooks {
			graphtest.OK(r)(w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")}))
		}
		w.tell(agent)
		w.Shift(11 * time.Minute) // the job that was added above and never ran counts as lost
		w.DeliverWebhooks()
		require.Empty(r, w.queue(agent))
		require.Zero(r, w.Count("SELECT count(*) FROM pending_deliveries p JOIN webhooks h ON h.id = p.webhook_id WHERE h.bot_id = $1 AND p.next_attempt_at <= stoa_now()", agent.ID))
	})
}
