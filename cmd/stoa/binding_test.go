package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
	"stoa/rest/resttest"
)

// A message is refused if the server kept it back over 91 days, reflected it, changed it or announced it again. A message with a
// random nonce is marked, or refused with --require-bound. The text of a refused message is never shown; the hook gets every
// other message once.
func TestRefusedMessagesAreNamed(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	a := graphtest.Got(client.OpenAgent(ben.key, "", client.Options{}))(t)
	to := graphtest.Got(a.Find(t.Context(), ada.handle))(t)
	// post sends a message that is sealed at a time, or with a random nonce for the zero time.
	post := func(text string, at time.Time) {
		t.Helper()
		envelope := graphtest.Got(a.Keys.Seal(a.Identity().ID, to.ID, *to.Key, text, uuid.NewString()))(t)
		nonce := [24]byte(append(random(), make([]byte, 8)...))
		if !at.IsZero() {
			fresh := [8]byte(random())
			binary.BigEndian.PutUint32(fresh[:], uint32(at.Unix()))
			nonce = graphtest.Got(envelope.BindNonce(a.Identity().ID, fresh))(t)
		}
		envelope = graphtest.Got(a.Keys.SealWith(to.ID, *to.Key, text, envelope.ClientMessageID, nonce))(t)
		require.NoError(t, a.Do(t.Context(), http.MethodPost, "/messages", envelope, nil))
	}
	now := time.Now().Truncate(time.Second)
	post("bound", now)
	post("kept back", now.AddDate(0, 0, -92))
	post("unbound", time.Time{})
	for range 2 {
		read := ada.list("read", ben.handle)
		require.Len(t, read, 3)
		unbound, stale, bound := read[0], read[1], read[2]
		require.Equal(t, []any{"unbound", false}, []any{unbound["text"], unbound["bound"]})
		require.NotContains(t, unbound, "sealed_at")
		require.Equal(t, "stale", stale["refused"])
		require.Empty(t, stale["text"])
		require.Equal(t, []any{"bound", true}, []any{bound["text"], bound["bound"]})
		require.NotContains(t, bound, "refused")
		require.True(t, now.Equal(graphtest.Got(time.Parse(time.RFC3339, bound["sealed_at"].(string)))(t)))
	}
	_, shown, _ := ada.try("read", ben.handle)
	require.Contains(t, shown, "(stale)")
	require.Contains(t, shown, "(unbound)")
	strict := ada.list("--require-bound", "read", ben.handle)
	require.Equal(t, "unbound", strict[0]["refused"])
	require.Empty(t, strict[0]["text"])
	require.Equal(t, "bound", strict[2]["text"])

	me, mine, other := idOf(ada), *to.Key, a.Keys.Public()
	for refused, change := range map[string]*strings.Replacer{
		"reflected": strings.NewReplacer(me, a.Identity().ID, a.Identity().ID, me, mine, other, other, mine),
		"altered":   strings.NewReplacer(mine, fresh(t)), // another key of hers
	} {
		l.tamper(func(r *http.Request, answer []byte) []byte {
			if r.URL.Path != "/api/v1/messages" {
				return answer
			}
			return []byte(change.Replace(string(answer)))
		})
		require.Equal(t, refused, ada.list("read", ben.handle)[2]["refused"])
	}

	l.tamper(func(r *http.Request, answer []byte) []byte {
		var polled struct {
			Events []json.RawMessage `json:"events"`
			More   bool              `json:"more"`
		}
		if r.URL.Path != "/api/v1/events" || json.Unmarshal(answer, &polled) != nil {
			return answer
		}
		for _, event := range polled.Events {
			for _, ids := range []string{"event", "event|client_message"} { // announced again, and as another message
				id := regexp.MustCompile(`("(?:` + ids + `)_id":")[^"]*`)
				polled.Events = append(polled.Events, id.ReplaceAll(event, []byte("${1}"+uuid.NewString())))
			}
		}
		return graphtest.Got(json.Marshal(polled))(t)
	})
	done := filepath.Join(t.TempDir(), "done")
	handed := func() string {
		raw, _ := os.ReadFile(done)
		return string(raw)
	}
	listener := ada.listens("--poll", "--require-bound", "--exec", appendingTo(done))
	for _, word := range []string{"stale", "unbound", "replayed", "altered"} {
		listener.stderr.await(t, "a message is refused as "+word)
	}
	listener.kill()
	require.NotContains(t, handed(), `"text":"unbound"`)
	post("unbound, too", time.Time{})
	ada.listens("--poll", "--exec", appendingTo(done))
	eventually(t, func() bool { return strings.Contains(handed(), `"text":"unbound, too"`) }, "the message did not come")
	require.Equal(t, 1, strings.Count(handed(), `"text":"bound"`), handed())
	require.Contains(t, handed(), `"bound":false`)
	require.Contains(t, handed(), `"sealed_at":"`)
	require.NotContains(t, handed(), "kept back")
}

// random are 16 random bytes.
func random() []byte {
	id := uuid.New()
	return id[:]
}

// Stoa opens and marks messages of PyNaCl, whose nonces are random, and PyNaCl opens ours. TestRefusedMessagesAreNamed shows how
// --require-bound treats such messages.
func TestPyNaClAndStoaReadEachOther(t *testing.T) {
	t.Parallel()
	python := resttest.Python(t, "nacl.public")
	_, ada, ben := befriended(t)
	a := graphtest.Got(client.OpenAgent(ben.key, "", client.Options{}))(t)
	adaKey := ada.run("me")["encryption_public_key"].(string)
	ada.run("send", ben.handle, "from stoa")
	var sent client.Message
	for message, err := range a.Messages(t.Context(), idOf(ada)) {
		require.NoError(t, err)
		sent = message
	}
	run := exec.CommandContext(t.Context(), python, "-c", `
import base64, json, sys
from nacl.public import Box, PrivateKey, PublicKey
mine, theirs, nonce, ciphertext = map(base64.b64decode, sys.argv[1:])
box = Box(PrivateKey(mine), PublicKey(theirs))
sealed = box.encrypt(b"from PyNaCl")
print(json.dumps([box.decrypt(ciphertext, nonce).decode(), *(base64.b64encode(b).decode() for b in (sealed.nonce, sealed.ciphertext))]))
`, a.Keys.Private(), adaKey, sent.Nonce, sent.Ciphertext)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	made := parsed[[3]string](t, out)
	require.Equal(t, "from stoa", made[0])
	require.NoError(t, a.Do(t.Context(), http.MethodPost, "/messages", client.Envelope{
		RecipientID: idOf(ada), ClientMessageID: uuid.NewString(), Nonce: made[1], Ciphertext: made[2], Version: client.Version,
		SenderKey: a.Keys.Public(), RecipientKey: adaKey,
	}, nil))
	require.Len(t, graphtest.Got(base64.StdEncoding.DecodeString(made[1]))(t), 24)

	read := ada.list("read", ben.handle)[0]
	require.Equal(t, "from PyNaCl", read["text"])
	require.Equal(t, false, read["bound"])
}
