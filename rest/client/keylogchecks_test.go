package client_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

func pinOf(t *testing.T, a *client.Agent, p person) client.Pin {
	t.Helper()
	return must(a.Trust.Pins())(t)[p.id()]
}

// An agent is proven once. After that, neither this program nor the next one asks the log again.
func TestAnAgentIsProvenOnce(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	s.fill(300)
	ada, ben := s.register("ada"), s.register("ben")
	s.register("carol")
	s.fill(300)
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, ada, client.Checks{})
	_, _, err := a.SendMessage(t.Context(), ben.brief(), "hello", "")
	require.NoError(t, err)
	pin := pinOf(t, a, ben)
	require.Equal(t, client.ViaLog, pin.Via)
	require.EqualValues(t, 301, *pin.Index)
	s.asked()
	_, _, err = a.SendMessage(t.Context(), ben.brief(), "hello again", "")
	require.NoError(t, err)
	_, _, err = s.agentOf(file, ada, client.Checks{}).SendMessage(t.Context(), ben.brief(), "hello again", "")
	require.NoError(t, err)
	require.Equal(t, []string{"POST /api/v1/messages", "POST /api/v1/messages"}, s.asked())

	// Another agent costs a few requests, and the head advances.
	s.fill(10)
	ok(t)(a.Find(t.Context(), "carol"))
	require.Len(t, s.asked(), 5) // the card twice, the keys, the proof, and that the head continues the kept one
	head, found, err := a.Trust.Log()
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, 613, head.Size)
	require.Equal(t, os.FileMode(0o600), must(os.Stat(file+".trust"))(t).Mode().Perm())

	// A stranger's message is opened after the sender was proven.
	dora := s.register("dora")
	sealed := must(dora.keys.Seal(dora.id(), ada.id(), ada.keys.Public(), "hi", uuid.NewString()))(t)
	opened := must(a.Open(t.Context(), client.Message{ID: uuid.NewString(), SenderID: dora.id(), Envelope: sealed}, ""))(t)
	require.Equal(t, "hi", opened.Text)
	require.Equal(t, client.ViaLog, pinOf(t, a, dora).Via)
	require.Equal(t, "dora", pinOf(t, a, dora).Handle)
}

// withoutLog answers with the keys of a server that has no log.
func withoutLog(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys": []}`)) }

// Servers of an earlier version have no log: agents are trusted at first use. A server that had a log cannot drop it.
func TestAServerWithoutALog(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol := s.register("ada"), s.register("ben"), s.register("carol")
	for _, answer := range []http.HandlerFunc{withoutLog, http.NotFound} {
		s.answerAt("/stoa-keys.json", answer)
		a := s.agent(ada, client.Checks{})
		ok(t)(a.Find(t.Context(), "ben"))
		require.Equal(t, client.ViaFirstUse, pinOf(t, a, ben).Via)
		for _, strict := range []client.Checks{
			{LogKey: s.logs[1].Key},
			{Witnesses: []string{keylog.WitnessKey("w", publicKey("w"))}, Quorum: 1},
		} {
			require.ErrorIs(t, errOf(s.agent(ada, strict).Find(t.Context(), "ben")), client.ErrUnproven)
		}

		// Once there is a log the pin is proven by hand, others on first use, and the log stays.
		s.say(nil)
		require.Equal(t, client.ViaLog, must(a.Verify(t.Context(), "@ben", ""))(t).Via)
		s.answerAt("/stoa-keys.json", answer)
		_, err := a.Find(t.Context(), "carol")
		require.ErrorIs(t, err, client.ErrLogForked)
		require.True(t, client.Alarm(err))
		require.True(t, client.HasCode(err, "log_forked"))
		ok(t)(a.Find(t.Context(), "ben"))
		require.Empty(t, pinOf(t, a, carol))
	}
}

// A key that was swapped before the first contact is not proven, whatever the server claims about its entry, and nothing is
// posted.
func TestASwapBeforeFirstContact(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, other := s.register("ada"), s.register("ben"), s.register("other")
	eve := must(client.NewKeys())(t)
	truth := ben.card["key_log"]
	entry := func(name string, value any) func() {
		return func() {
			lie := map[string]any{"index": truth.(map[string]any)["index"], "salt": truth.(map[string]any)["salt"]}
			lie[name] = value
			ben.card["key_log"] = lie
		}
	}
	lied := ben
	for name, lie := range map[string]func(){
		"its true entry": func() {}, "another entry": entry("index", 0),
		"another's salt": entry("salt", other.card["key_log"].(map[string]any)["salt"]),
		"no salt":        entry("salt", nil), "no index": entry("index", nil), "beyond the head": entry("index", 77),
		"no entry": func() { ben.card["key_log"] = nil }, "no member": func() { delete(ben.card, "key_log") },
	} {
		ben.card["key_log"], ben.card["encryption_public_key"] = truth, eve.Public()
		lie()
		lied.keys = eve
		a := s.agent(ada, client.Checks{})
		s.asked()
		_, _, err := a.SendMessage(t.Context(), lied.brief(), "hello", "")
		require.ErrorIs(t, err, client.ErrUnproven, name)
		require.True(t, client.HasCode(err, "key_unproven"))
		require.False(t, client.Alarm(err))
		require.False(t, slices.ContainsFunc(s.asked(), func(r string) bool { return strings.HasPrefix(r, "POST") }), name)
		require.Empty(t, pinOf(t, a, ben))

		// Only if a person allows it, the unproven key is pinned, and marked.
		a = s.agent(ada, client.Checks{AllowUnproven: true})
		_, _, err = a.SendMessage(t.Context(), lied.brief(), "hello", "")
		require.NoError(t, err)
		require.Equal(t, client.ViaFirstUse, pinOf(t, a, ben).Via)
	}
	// Two keys at once are none.
	ben.card["key_log"], ben.card["encryption_public_key"] = truth, ben.keys.Public()
	_, _, err := s.agent(ada, client.Checks{}).SendMessage(t.Context(), lied.brief(), "hello", "")
	require.ErrorIs(t, err, client.ErrUnproven)
	// A swap after first contact is a changed key.
	a := s.agent(ada, client.Checks{})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	s.asked()
	_, _, err = a.SendMessage(t.Context(), lied.brief(), "hello", "")
	require.ErrorIs(t, err, client.ErrKeyChanged)
	require.Empty(t, s.asked())
}

// The client waits for the entry of a new agent.
func TestAnEntryIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.unsequenced("ben")
	var once sync.Once
	s.say(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, ben.id()) {
			once.Do(func() { go s.sequence(ben) })
		}
		return false
	})
	a := s.agent(ada, client.Checks{Patience: keylogtest.Wait(30 * time.Second)})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	require.Equal(t, client.ViaLog, pinOf(t, a, ben).Via)
}

// A closed profile has no proof; a compared fingerprint replaces it.
func TestAFingerprintIsCompared(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	ben.card["key_log"] = nil
	right := must(client.Fingerprint(ben.keys.Public()))(t)
	wrong := must(client.Fingerprint(ada.keys.Public()))(t)
	a := s.agent(ada, client.Checks{})
	require.ErrorIs(t, errOf(a.Verify(t.Context(), "ben", "")), client.ErrUnproven)
	require.ErrorIs(t, errOf(a.Verify(t.Context(), "ben", wrong)), client.ErrFingerprint)
	require.Empty(t, pinOf(t, a, ben))
	verified := must(a.Verify(t.Context(), "ben", right))(t)
	require.Equal(t, client.ViaFingerprint, verified.Via)
	require.NotEmpty(t, verified.Missing)
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
}

// If any byte of a log's answers is changed, the agent is not proven, unless only an unread member has changed.
func TestEveryByteOfTheLogCounts(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol := s.register("ada"), s.register("ben"), s.register("carol")
	s.fill(3)
	folder := t.TempDir()
	first := filepath.Join(folder, "first.key")
	require.NoError(t, s.agentOf(first, ada, client.Checks{}).Meet(t.Context(), ben.brief()))
	s.fill(5)
	trust := must(os.ReadFile(first + ".trust"))(t)
	fresh := func() *client.Agent {
		file := filepath.Join(folder, uuid.NewString())
		require.NoError(t, os.WriteFile(file+".trust", trust, 0o600))
		return s.agentOf(file, ada, client.Checks{})
	}
	a := fresh()
	for _, path := range []string{"proof/2", "consistency"} {
		request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/log/1/"+path+"?old=6", nil))(t)
		honest := recorded(s.logs[1], request)
		for i := range honest {
			lie := slices.Clone(honest)
			lie[i] ^= 1 << (i % 6)
			s.answerAt("/log/1/"+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(lie) })
			if err := a.Meet(t.Context(), carol.brief()); err != nil {
				require.Empty(t, pinOf(t, a, carol))
				continue
			}
			require.Equal(t, "consistency", path) // a member that nothing reads
			require.True(t, harmless(t, honest, lie), "%s", lie)
			a = fresh()
		}
	}
}

// harmless reports whether the hashes and the checkpoint of two proofs are the same.
func harmless(t *testing.T, one, other []byte) bool {
	t.Helper()
	var a, b struct {
		Hashes     []string `json:"hashes"`
		Checkpoint string   `json:"checkpoint"`
	}
	require.NoError(t, json.Unmarshal(one, &a))
	require.NoError(t, json.Unmarshal(other, &b))
	return slices.Equal(a.Hashes, b.Hashes) && a.Checkpoint == b.Checkpoint
}

// A receipt is valid only under a key of the log that the agent keeps or was given. If it has none, the key that the server names now
// must prove the agent's own key.
func TestAReceiptNeedsAKnownLog(t *testing.T) {
	t.Parallel()
	var vectors struct {
		Keys   json.RawMessage `json:"keys"`
		LogKey string          `json:"log_key"`
		Cases  []struct {
			File map[string]json.RawMessage `json:"file"`
		} `json:"cases"`
	}
	readJSON(t, "testdata/receipts.json", &vectors)
	var made client.Fields
	require.NoError(t, json.Unmarshal(vectors.Cases[0].File["receipt"], &made))
	file := must(json.Marshal(vectors.Cases[0].File))(t)
	s := newLogServer(t)
	ada, order := s.register("ada"), made["order_id"].(string)
	s.published["vkeys"] = []string{vectors.LogKey}
	s.say(func(w http.ResponseWriter, r *http.Request) bool {
		body, found := map[string]json.RawMessage{
			client.Prefix + "/orders/" + order + "/receipt": file, "/.well-known/jwks.json": vectors.Keys,
		}[r.URL.Path]
		_, _ = w.Write(body)
		return found
	})
	_, _, err := s.agent(ada, client.Checks{}).VerifyReceipt(t.Context(), order)
	require.ErrorIs(t, err, client.ErrUnproven)
	found, _, err := s.agent(ada, client.Checks{LogKey: vectors.LogKey}).VerifyReceipt(t.Context(), order)
	require.NoError(t, err)
	require.Equal(t, order, found.Receipt.OrderID)
}

// An agent verifies its own key also if its profile is closed, and does not pin itself. It notices another key that the server names.
func TestAnAgentVerifiesItself(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada := s.register("ada")
	s.answerAt("/bots/"+ada.id(), func(w http.ResponseWriter, _ *http.Request) { // the profile is closed
		s.reply(w, http.StatusNotFound, "error", map[string]any{"code": "not_found"})
	})
	a := s.agent(ada, client.Checks{})
	for _, name := range []string{ada.id(), "@Ada"} {
		found := must(a.Verify(t.Context(), name, ""))(t)
		require.Empty(t, found.Missing)
		require.NotNil(t, found.Index)
		require.Empty(t, pinOf(t, a, ada))
	}
	require.ErrorIs(t, errOf(a.Verify(t.Context(), "ada", "SHA256:other")), client.ErrFingerprint)

	// It notices that the server names another key for it, with and without a key log, also if it compares its fingerprint.
	s.say(nil)
	ben, own := s.register("ben"), must(client.Fingerprint(ada.keys.Public()))(t)
	for _, logged := range []bool{true, false} {
		if !logged {
			s.answerAt("/stoa-keys.json", withoutLog)
		}
		a = s.agent(ada, client.Checks{})
		ada.card["encryption_public_key"] = ada.keys.Public()
		ok(t)(a.Verify(t.Context(), "ada", own))
		for _, key := range []any{ben.keys.Public(), nil} {
			ada.card["encryption_public_key"] = key
			for _, fingerprint := range []string{"", own} {
				_, err := a.Verify(t.Context(), "ada", fingerprint)
				require.ErrorIs(t, err, client.ErrFingerprint)
				require.ErrorContains(t, err, "another key for this agent, @ada, than its key file holds")
			}
		}
	}
}
