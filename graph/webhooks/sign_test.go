package webhooks_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	w := newWorld(t)
	e, agent := newEndpoint(t, nil), w.Agent()
	made, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr(e.URL + "/hook?token=1"), Signing: graphtest.Ptr("v1a")})
	require.NoError(t, err)
	w.tested(made.Webhook)
	w.tell(agent)
	ids := w.queue(agent)
	w.DeliverWebhooks()
	got := e.take()
	require.Len(t, got, 1)
	require.Len(t, ids, 1)
	require.Equal(t, ids[0], got[0].id(), "the webhook's id is the event's")
	require.Equal(t, "application/json", got[0].header.Get("Content-Type"))
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
	w := newWorld(t)
	e, agent := newEndpoint(t, nil), w.Agent()
	made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL, Signing: graphtest.Ptr("v1")}))(t)
	w.tested(made.Webhook)
	first := *made.Secret
	send := func() request {
		w.tell(agent)
		w.DeliverWebhooks()
		got := e.take()
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

	other, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL, Signing: graphtest.Ptr("v1a")})
	require.NoError(t, err)
	require.Nil(t, other.Secret, "the server's key signs")
	_, err = w.Webhooks.RotateWebhookSecret(agent.Ctx, webhooks.Input{WebhookID: other.Webhook.ID.String()})
	graphtest.RequireFault(t, err, fault.StateConflict)
}
