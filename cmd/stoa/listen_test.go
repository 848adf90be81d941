package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
	"stoa/rest/resttest"
)

// listenEvents is the number of messages of TestListenerKilledAtRandom: with more messages, kills hit rarer moments.
var listenEvents = flag.Int("listen-events", 100, "messages that are sent to a listener which is killed at random")

// hookScript is a hook that sometimes fails or is killed, before or after its work.
const hookScript = `#!/bin/sh
event=$(cat)
chance=$(od -An -N1 -tu1 /dev/urandom)
if [ "$chance" -lt 10 ]; then exit 1; fi
if [ "$chance" -lt 20 ]; then kill -9 $$; fi
printf '%s\n' "$event" >> "$1"
if [ "$chance" -gt 250 ]; then kill -9 $$; fi
`

// handedEvents returns the events in the hook's file.
func handedEvents(t testing.TB, path string) (texts map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	texts = make(map[string]string)
	for line := range strings.Lines(string(raw)) {
		var event struct {
			ID   string  `json:"event_id"`
			Text *string `json:"text"`
		}
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &event) == nil {
			texts[event.ID] = ""
			if event.Text != nil {
				texts[event.ID] = *event.Text
			}
		}
	}
	return texts
}

// openAgent registers an agent with a key file.
func (s *testServer) openAgent(name string) (a *client.Agent, file string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), name+".key")
	a = graphtest.Got(client.OpenAgent(file, s.url, client.Options{}))(s.t)
	graphtest.OK(s.t)(a.Register(s.t.Context(), name, client.Fields{"display_name": name}))
	return a, file
}

// A listener and its hooks are killed at any moment: every event is handed over, and none is acknowledged before its hook has
// succeeded.
func TestListenerKilledAtRandom(t *testing.T) {
	t.Parallel()
	messages := *listenEvents
	if testing.Short() {
		messages /= 4
	}
	w, s := sharedWorld.World(t), sharedServer(t)
	ada, _ := s.openAgent("ada_sends")
	ben, key := s.openAgent("ben_listens")
	graphtest.OK(t)(ben.Accept(t.Context(), graphtest.Got(ada.Befriend(t.Context(), ben.Identity().ID))(t).ID))
	to := graphtest.Got(ada.Find(t.Context(), "ben_listens"))(t)
	events := int64(messages + 1) // and the request for friendship

	folder := t.TempDir()
	script, done := filepath.Join(folder, "hook.sh"), filepath.Join(folder, "done")
	require.NoError(t, os.WriteFile(script, []byte(hookScript), 0o700))
	hook := appending(t, done)
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range messages {
			if _, _, err := ada.SendMessage(t.Context(), to, fmt.Sprintf("message %d", i), ""); err != nil {
				t.Errorf("sending: %v", err)
				return
			}
		}
	})
	t.Cleanup(sending.Wait)

	// Each turn starts the listener again, with a command, a local address, or polls.
	ways := [][]string{{"--exec", script + " " + done}, {"--hook", hook}, {"--exec", script + " " + done, "--poll"}}
	waiting := func() int64 { return w.Count("SELECT count(*) FROM events WHERE recipient_id = $1", ben.Identity().ID) }
	sent := func() int64 {
		return 1 + w.Count("SELECT count(*) FROM messages WHERE recipient_id = $1", ben.Identity().ID)
	}
	for round := 0; sent() < events || waiting() > 0; round++ {
		l := commandLine{t: t, key: key}.listens(ways[round%len(ways)]...)
		before, more := len(handedEvents(t, done)), 1+rand.N(12)
		eventually(t, func() bool {
			return len(handedEvents(t, done)) >= before+more || sent() == events && waiting() == 0
		}, "no more events were handed over")
		time.Sleep(rand.N(20 * time.Millisecond)) // the kill comes at any moment
		l.kill()
		if t.Failed() {
			t.Logf("round %d: %s", round, l.stderr)
		}
		all := sent() // an event that was sent and does not wait any more was acknowledged
		acknowledged := all - waiting()
		require.LessOrEqual(t, acknowledged, int64(len(handedEvents(t, done))), "an event was acknowledged before its hook's success")
	}
	texts := handedEvents(t, done)
	require.Len(t, texts, int(events))
	found := make(map[string]bool)
	for _, text := range texts {
		found[text] = true
	}
	for i := range messages {
		require.True(t, found[fmt.Sprintf("message %d", i)], "message %d was not handed over, opened", i)
	}
}

// appending is a local address that appends each posted body to a file, and sometimes fails.
func appending(t *testing.T, path string) string {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var event json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil || rand.N(20) == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprintf(file, "%s\n", event)
		_ = file.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// If another program replaces the token in the key file, a listener continues with the new token, over a socket and by polls; a
// listener whose token has ended permanently reports that.
func TestListenersSurviveRotation(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"--poll=false", "--poll"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := sharedServer(t)
			ada, ben := s.named("ada_rotates"), s.named("ben_sends")
			ada.run("register", ada.handle)
			ben.run("register", ben.handle)
			befriend(ada, ben)
			done := filepath.Join(t.TempDir(), "done")
			l := ada.listens(way, "--exec", "cat >> "+done)
			ended := make(chan error, 1)
			go func() { ended <- l.Wait() }()
			handed := func(text string) func() bool {
				return func() bool {
					raw, _ := os.ReadFile(done)
					return strings.Contains(string(raw), text)
				}
			}
			eventually(t, handed("contact.accepted"), "the listener does not listen")
			for round := range 3 {
				ada.shown("rotate")
				text := fmt.Sprintf("after rotation %d", round)
				ben.run("send", ada.handle, text)
				eventually(t, handed(text), text)
			}
			ada.shown("rotate") // twice in a row
			ada.shown("rotate")
			ben.run("send", ada.handle, "after two at once")
			eventually(t, handed("after two at once"), "after two at once")

			same := graphtest.Got(client.OpenAgent(ada.key, "", client.Options{}))(t)
			require.NoError(t, same.Do(t.Context(), http.MethodPost, "/tokens/revoke", nil, nil))
			select {
			case <-ended:
				require.Equal(t, exitFailure, l.ProcessState.ExitCode())
			case <-time.After(slack.TestWait):
				t.Fatal("it listens without a token")
			}
		})
	}
}

// A hook that fails is tried again while later events wait. Until the hook succeeds, listener and doctor report this.
func TestAFailingHookIsShown(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	fails(t, exitFailure, "there is no key file")(runInProcess("listen", "--exec", "true", "--key", filepath.Join(t.TempDir(), "none.key")))
	ada, ben := s.registered("ada_fails"), s.registered("ben_asks")
	ben.run("befriend", "ada_fails")
	ready := filepath.Join(t.TempDir(), "ready")
	l := ada.listens("--exec", "test -e "+ready+" || exit 3")
	l.stderr.await(t, "later events wait behind it")
	require.Regexp(t, `handling contact.requested [0-9a-f-]{36}: exit status 3; it is tried again in \d+\.\d s, and later events wait behind it`,
		l.stderr.String())
	code, stdout, _ := ada.try("doctor")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stdout, "The listener cannot hand over contact.requested ")
	require.Contains(t, stdout, "exit status 3")
	require.Contains(t, stdout, "It is tried again at ")

	require.NoError(t, os.WriteFile(ready, nil, 0o600))
	eventually(t, func() bool { return ada.works("doctor") }, "doctor complains although the hook succeeds")

	// A killed listener has no failure.
	require.NoError(t, os.Remove(ready))
	w.Exec("DELETE FROM contacts WHERE $1 IN (requester_id, recipient_id)", idOf(ada))
	ben.run("befriend", "ada_fails")
	eventually(t, func() bool { return !ada.works("doctor") }, "doctor does not see the second failure")
	l.kill()
	require.NotContains(t, ada.shown("doctor"), "cannot hand over")
}

// The help of listen shows the input of a hook for every kind of event, with a payload that fits the description.
func TestListenHelpShowsEveryKind(t *testing.T) {
	t.Parallel()
	help := helpOf(t, "listen")
	for _, words := range []string{"gets the same event again, in order", "doubles", "/heartbeat.md", "bound says", "text is the opened message"} {
		require.Contains(t, strings.Join(strings.Fields(help), " "), words)
	}
	var kinds []string
	for line := range strings.Lines(help) {
		var sample struct {
			client.Event
			Text  *string `json:"text"`
			Bound *bool   `json:"bound"`
		}
		if json.Unmarshal([]byte(line), &sample) != nil {
			continue
		}
		kinds = append(kinds, sample.Kind)
		require.Equal(t, sample.Kind == client.MessageCreated, sample.Text != nil && sample.Bound != nil)
		frame := fmt.Appendf(nil, `{"type":"event","event_id":%q,"kind":%q,"payload":%s}`, sample.ID, sample.Kind, sample.Payload)
		if err := resttest.Frame(frame); sample.Kind == client.MessageCreated {
			require.ErrorContains(t, err, "missing property 'message'", "the sealed record alone")
		} else {
			require.NoError(t, err)
		}
	}
	require.ElementsMatch(t, events.Kinds(), kinds)
}
