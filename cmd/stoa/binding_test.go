package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
	"stoa/rest/resttest"
)

// A server is detected if it shows one's own words as a friend's, renames a message, or announces one again: forged messages are
// refused, and the hook runs once for each sent message, also if the listener was restarted in between.
func TestHooksRunOnceForEachMessage(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	ada.run("send", ben.handle, "own words")
	done := filepath.Join(t.TempDir(), "done")
	// listens runs a listener until the hook got a text and that is recorded, and returns the listener's report.
	listens := func(until string) string {
		l := ada.listens("--poll", "--exec", appendingTo(done))
		eventually(t, func() bool {
			seen, _ := os.ReadFile(ada.key + ".seen")
			for id, text := range handedEvents(t, done) {
				if text == until {
					return strings.Contains(string(seen), id)
				}
			}
			return false
		}, until+" was not handed over")
		l.kill()
		return l.stderr.String()
	}

	var truth map[string]any // the event of ben's first message
	l.lie(func(r *http.Request, answer []byte) []byte {
		for _, event := range eventsOf(r, answer) {
			if event["kind"] == client.MessageCreated {
				truth = event
			}
		}
		return answer
	})
	ben.run("send", ada.handle, "first words")
	listens("first words")
	require.NotNil(t, truth)

	var own map[string]any
	adaID := idOf(ada)
	l.lie(onMessages(t, func(m map[string]any) {
		if m["sender_id"] == adaID {
			own = maps.Clone(m)
		}
	}))
	require.Len(t, ada.list("read", ben.handle), 2)
	require.NotNil(t, own)
	reflected(own)

	forged := []map[string]any{
		forgery(t, truth, func(map[string]any) {}),
		forgery(t, truth, func(m map[string]any) { m["id"] = uuid.NewString() }),
		forgery(t, truth, func(m map[string]any) { m["client_message_id"] = uuid.NewString() }),
		forgery(t, truth, func(m map[string]any) { maps.Copy(m, own) }),
	}
	l.lie(func(r *http.Request, answer []byte) []byte {
		events := eventsOf(r, answer)
		if len(events) == 0 {
			return answer
		}
		return graphtest.Got(json.Marshal(map[string]any{"events": append(forged, events...), "more": false}))(t)
	})
	ben.run("send", ada.handle, "last words")
	reports := listens("last words")
	for word, times := range map[string]int{"replayed": 2, "altered": 1, "reflected": 1} {
		require.Equal(t, times, strings.Count(reports, "a message is refused as "+word), "%s: %s", word, reports)
	}
	raw := readFile(t, done)
	require.Equal(t, 2, strings.Count(raw, client.MessageCreated), raw)
	require.Equal(t, 1, strings.Count(raw, "first words"))
	require.NotContains(t, raw, "own words")
	require.Contains(t, raw, `"sealed_at":"`)
}

// random are 16 random bytes.
func random() []byte {
	id := uuid.New()
	return id[:]
}

// eventsOf returns the events in the answer to a poll.
func eventsOf(r *http.Request, answer []byte) []map[string]any {
	var polled struct {
		Events []map[string]any `json:"events"`
	}
	if r.URL.Path != "/api/v1/events" || json.Unmarshal(answer, &polled) != nil {
		return nil
	}
	return polled.Events
}

// forgery is an event under a new id, which brings a changed copy of another's message.
func forgery(t *testing.T, truth map[string]any, change func(message map[string]any)) map[string]any {
	t.Helper()
	event := parsed[map[string]any](t, graphtest.Got(json.Marshal(truth))(t))
	payload := event["payload"].(map[string]any)
	message := payload["message"].(map[string]any)
	change(message)
	event["event_id"], payload["message_id"], payload["sender_id"] = uuid.NewString(), message["id"], message["sender_id"]
	return event
}

// A list that shows one message twice opens it once, and the same list may be read again.
func TestAListShowsNoMessageTwice(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	before := time.Now()
	ben.run("send", ada.handle, "yes")
	for range 2 {
		read := ada.list("read", ben.handle)
		require.Len(t, read, 1)
		require.Equal(t, "yes", read[0]["text"])
		require.NotContains(t, read[0], "refused")
		sealed := graphtest.Got(time.Parse(time.RFC3339, read[0]["sealed_at"].(string)))(t)
		require.WithinRange(t, sealed, before.Truncate(time.Second), time.Now())
	}
	l.lie(func(_ *http.Request, answer []byte) []byte {
		var listed map[string]any
		if json.Unmarshal(answer, &listed) != nil || listed["messages"] == nil {
			return answer
		}
		messages := listed["messages"].([]any)
		again := maps.Clone(messages[0].(map[string]any))
		again["id"] = uuid.NewString()
		listed["messages"] = append(messages, again)
		return graphtest.Got(json.Marshal(listed))(t)
	})
	read := ada.list("read", ben.handle)
	require.Len(t, read, 2)
	require.Equal(t, "yes", read[0]["text"])
	require.Equal(t, "replayed", read[1]["refused"])
	require.Empty(t, read[1]["text"])
	_, shown, _ := ada.try("read", ben.handle)
	require.Contains(t, shown, "(replayed)")
}

// A message that says to be sealed over 91 days ago is refused: a server has kept it back.
func TestAMessageKeptBackIsStale(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	a := graphtest.Got(client.OpenAgent(ben.key, "", client.Options{}))(t)
	to := graphtest.Got(a.Find(t.Context(), ada.handle))(t)
	envelope := graphtest.Got(a.Keys.Seal(a.Identity().ID, to.ID, *to.Key, "an old word", uuid.NewString()))(t)
	fresh := [8]byte(random())
	binary.BigEndian.PutUint32(fresh[:], uint32(time.Now().AddDate(0, 0, -92).Unix()))
	nonce := graphtest.Got(envelope.BindNonce(a.Identity().ID, fresh))(t)
	envelope = graphtest.Got(a.Keys.SealWith(to.ID, *to.Key, "an old word", envelope.ClientMessageID, nonce))(t)
	require.NoError(t, a.Do(t.Context(), http.MethodPost, "/messages", envelope, nil))
	read := ada.list("read", ben.handle)
	require.Equal(t, "stale", read[0]["refused"])
	require.Empty(t, read[0]["text"])
}

// Messages of PyNaCl, whose nonces are random, open and are marked; --require-bound refuses them. PyNaCl opens ours.
func TestPyNaClAndStoaReadEachOther(t *testing.T) {
	t.Parallel()
	python := resttest.PythonWithNaCl(t)
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
	require.NotContains(t, read, "sealed_at")
	_, shown, _ := ada.try("read", ben.handle)
	require.Contains(t, shown, "(unbound)")
	strict := ada.list("--require-bound", "read", ben.handle)
	require.Equal(t, "unbound", strict[0]["refused"])
	require.Empty(t, strict[0]["text"])
	require.Equal(t, "from stoa", strict[1]["text"])

	// With --require-bound the hook does not run; without it the hook gets such a message with its mark.
	post := func(text string) {
		sealed, err := a.Keys.SealWith(idOf(ada), adaKey, text, uuid.NewString(), [24]byte(append(random(), make([]byte, 8)...)))
		require.NoError(t, err)
		require.NoError(t, a.Do(t.Context(), http.MethodPost, "/messages", sealed, nil))
	}
	done := filepath.Join(t.TempDir(), "done")
	for _, row := range []struct {
		flags []string
		until string
	}{{[]string{"--require-bound"}, "refused as unbound"}, {nil, `"bound":false`}} {
		l := ada.listens(append([]string{"--exec", "cat >> " + done}, row.flags...)...)
		eventually(t, func() bool {
			raw, _ := os.ReadFile(done)
			return strings.Contains(l.stderr.String()+string(raw), row.until)
		}, "the message did not come")
		l.kill()
		// The next listener may get the message again, because this one was killed, perhaps before it acknowledged.
		if row.flags != nil {
			raw, _ := os.ReadFile(done)
			require.NotContains(t, string(raw), "from PyNaCl")
		}
		post("a later word")
	}
}
