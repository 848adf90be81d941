package webhooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/webhooks"
)

// Deliveries are signed with the webhook's secret unless v1a is set, because libraries of Standard Webhooks support only that.
func TestSecretSignsUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, agent := newEndpoint(t, nil), w.Agent()
	made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL}))(t)
	require.Equal(t, "v1", made.Webhook.Signing)
	require.NotNil(t, made.Secret)
	w.tested(made.Webhook)
	w.tell(agent)
	w.DeliverWebhooks()
	got := e.take()
	require.Len(t, got, 1)
	require.True(t, got[0].verifies(t, *made.Secret))

	byKey, err := w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &e.URL, Signing: graphtest.Ptr("v1a")})
	require.NoError(t, err)
	require.Nil(t, byKey.Secret)
}
