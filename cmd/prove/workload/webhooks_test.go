package workload

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
)

// The two ways to sign, by a key that the test knows.
var (
	signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	secret     = []byte("a secret of thirty-two bytes ...")
)

func signV1a(text string) string {
	return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(signingKey, []byte(text)))
}

func signV1(text string) string {
	sum := hmac.New(sha256.New, secret)
	sum.Write([]byte(text))
	return "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

// receiver is the hook of an agent without a production.
func receiver(t *testing.T, s seal) (*hook, *history.Recorder) {
	t.Helper()
	recorder := history.NewRecorder(1)
	h := &hook{agent: &Agent{Handle: "ann", ID: "A", w: &Workload{Recorder: recorder}}, id: "W", seal: s,
		failed: make(map[string]bool), known: make(chan struct{})}
	close(h.known)
	return h, recorder
}

// What a receiver objects to is recorded with the event; what is right is recorded without.
func TestHookJudgesWhatComes(t *testing.T) {
	t.Parallel()
	public, _ := signingKey.Public().(ed25519.PublicKey)
	published := fmt.Sprintf(`{"keys":[{"public_key":"whpk_%s"}]}`, base64.StdEncoding.EncodeToString(public))
	byKey, err := publicSeal([]byte(published))
	require.NoError(t, err)
	bySecret, err := secretSeal("whsec_" + base64.StdEncoding.EncodeToString(secret))
	require.NoError(t, err)
	now := fmt.Sprint(time.Now().Unix())
	const body = `{"type":"order.changed","bot_id":"A","webhook_id":"W","data":{"order_id":"o"}}`
	for _, c := range []struct {
		name, at, body, wrong string
		seal                  seal
		sign                  func(text string) string
	}{
		{"v1a", now, body, "", byKey, signV1a},
		{"v1", now, body, "", bySecret, signV1},
		{"an old and a new secret", now, body, "", bySecret, func(text string) string { return "v1,AAAA " + signV1(text) }},
		{"another text", now, body, "no signature of it is right", byKey, func(text string) string { return signV1a(text + " ") }},
		{"the other way", now, body, "no signature of it is right", byKey, signV1},
		{"none", now, body, "no signature of it is right", bySecret, func(string) string { return "" }},
		{"an old time", "1000000000", body, `its time is "1000000000"`, byKey, signV1a},
		{"another agent", now, strings.Replace(body, `"A"`, `"B"`, 1), "it is for the agent B", byKey, signV1a},
		{"another webhook", now, strings.Replace(body, `"W"`, `"X"`, 1), "it is for the webhook X", bySecret, signV1},
	} {
		h, recorder := receiver(t, c.seal)
		in := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(c.body))
		in.Header.Set("Webhook-Id", "e")
		in.Header.Set("Webhook-Timestamp", c.at)
		in.Header.Set("Webhook-Signature", c.sign("e."+c.at+"."+c.body))
		h.ServeHTTP(httptest.NewRecorder(), in)
		got := recorder.Finish().Deliveries
		require.Len(t, got, 1, c.name)
		require.Equal(t, c.wrong, got[0].Wrong, c.name)
		require.Equal(t, "W", got[0].Hook)
		require.JSONEq(t, `{"order_id":"o"}`, string(got[0].Payload))
	}
}

// Half of the events fail at their first attempt, and none at the second.
func TestHookFailsHalf(t *testing.T) {
	t.Parallel()
	h, _ := receiver(t, seal{})
	statuses := make(map[string][]int)
	for range 2 {
		for _, event := range []string{"a", "b", "c", "d"} {
			statuses[event] = append(statuses[event], h.judge(event))
		}
	}
	require.Equal(t, map[string][]int{"a": {500, 200}, "b": {200, 200}, "c": {500, 200}, "d": {200, 200}}, statuses)
}

// A key that cannot be read is an error, not a seal that fits everything.
func TestSealsNeedKeys(t *testing.T) {
	t.Parallel()
	for _, published := range []string{"", "{}", `{"keys":[{"public_key":"whpk_AAAA"}]}`} {
		_, err := publicSeal(json.RawMessage(published))
		require.ErrorIs(t, err, errNoKey)
	}
	for _, text := range []string{"", "whsec_", "whsec_?"} {
		_, err := secretSeal(text)
		require.ErrorIs(t, err, errNoKey)
	}
}
