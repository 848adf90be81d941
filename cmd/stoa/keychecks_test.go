package main

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// loggedHost names the log of every logLayer.
const loggedHost = "stoa.example"

// logLayer stands before a true server and keeps a key log of its agents, with the log's key, so that a test can make it lie.
type logLayer struct {
	url string

	mu      sync.Mutex
	log     *keylogtest.Log
	epoch   int
	epochs  []any
	entries map[string]map[string]any // the members key_log, by id
	silent  bool                      // whether it denies its log
}

func logPrivate(name string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return ed25519.NewKeyFromSeed(seed)
}

func (s *testServer) logLayer() *logLayer {
	s.t.Helper()
	l := &logLayer{entries: make(map[string]map[string]any), epoch: 1, epochs: []any{}}
	l.log = keylogtest.New(keylog.Origin(loggedHost, 1), logPrivate("log"))
	proxy := s.liar()
	proxy.lie(func(_ *http.Request, answer []byte) []byte { return l.card(answer) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		log, epoch, epochs, silent := l.log, l.epoch, l.epochs, l.silent
		l.mu.Unlock()
		switch {
		case r.URL.Path == "/.well-known/stoa-keys.json" && silent:
			_, _ = io.WriteString(w, `{"keys": []}`)
		case r.URL.Path == "/.well-known/stoa-keys.json":
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{}, "log": map[string]any{
				"origin": log.Origin, "vkeys": []string{log.Key}, "witnesses": []string{}, "epochs": epochs,
			}})
		case strings.HasPrefix(r.URL.Path, "/log/"+strconv.Itoa(epoch)+"/"):
			log.ServeHTTP(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	s.t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// card names the entry of the agent of an answer that is a card, and makes the entry when it sees the agent for the first time.
func (l *logLayer) card(answer []byte) []byte {
	var whole map[string]any
	if json.Unmarshal(answer, &whole) != nil {
		return answer
	}
	bot, ok := whole["bot"].(map[string]any)
	key, keyed := bot["encryption_public_key"].(string)
	if !ok || !keyed || bot["created_at"] == nil {
		return answer
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := bot["id"].(string)
	if l.entries[id] == nil {
		l.enter(bot, key)
	}
	bot["key_log"] = l.entries[id]
	changed, err := json.Marshal(whole)
	if err != nil {
		return answer
	}
	return changed
}

// enter puts an entry of a card with that key into the log. The layer is locked.
func (l *logLayer) enter(bot map[string]any, key string) {
	salt := []byte("0123456789abcdef")
	agent := keylog.Agent{ID: bot["id"].(string), Handle: bot["handle"].(string), Key: key, CreatedAt: bot["created_at"].(string)}
	l.entries[agent.ID] = map[string]any{"index": l.log.Append(agent.Entry(loggedHost, salt)), "salt": salt}
}

// begin replaces the log by another with the same key, whose entries a test may choose.
func (l *logLayer) begin(epoch int, entries ...keylog.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log, l.epoch = keylogtest.New(keylog.Origin(loggedHost, epoch), logPrivate("log")), epoch
	for _, entry := range entries {
		l.log.Append(entry)
	}
}

// acquainted are two agents by commands behind a log and a liar, who do not know each other's keys yet.
func acquainted(t *testing.T) (layer *logLayer, l *liar, ada, ben commandLine) {
	t.Helper()
	s := sharedServer(t)
	layer = s.logLayer()
	s.url = layer.url
	l = s.liar()
	s.url = l.url
	ada, ben = s.named("ada_checks"), s.named("ben_checked")
	ada.program, ben.program = true, true // the layer adds a member to records
	ada.run("register", ada.handle)
	ben.run("register", ben.handle)
	return layer, l, ada, ben
}

// On a new machine an agent accepts the order of a friend whose profile is closed by the flag that the refusal names.
func TestAnOrderOfAClosedProfile(t *testing.T) {
	t.Parallel()
	_, _, ada, ben := acquainted(t)
	befriend(ada, ben)
	order := ada.run("offer", "--contractor", ben.handle, "--title", "A sonnet", "--description", "x", "--deadline", "3d", "--amount", "1")["id"].(string)
	ada.run("profile", "--no-public")
	require.NoError(t, os.Remove(ben.key+".trust"))
	refused := ben.refused("act", order, "accept")
	require.Contains(t, refused, "the profile of "+ada.handle+" is closed")
	require.Contains(t, refused, "--allow-unproven")
	require.Equal(t, "funded", ben.run("act", order, "accept", "--allow-unproven")["state"])
}

// A proxy without the key of the log achieves nothing before first contact, and the commands say why.
func TestTheLogProvesKeys(t *testing.T) {
	t.Parallel()
	layer, l, ada, ben := acquainted(t)
	me := ben.run("me")
	key, fingerprint := me["encryption_public_key"].(string), me["encryption_key_fingerprint"].(string)

	// A key that is swapped before first contact stays unproven, and nothing is posted.
	l.lie(replacing(key, fresh(t)))
	for _, args := range [][]string{{"befriend", ben.handle}, {"send", ben.handle, "hello"}} {
		require.Contains(t, ada.refused(args...), client.ErrUnproven.Error())
	}
	require.Empty(t, l.posted())
	l.lie(nil)
	befriend(ada, ben)
	ada.run("send", ben.handle, "hello")
	require.Equal(t, "log", ada.list("pins")[0]["via"])

	// A person compares.
	verified := ada.run("verify", "@"+ben.handle, fingerprint)
	require.Equal(t, fingerprint, verified["fingerprint"])
	require.Equal(t, "log", verified["via"])
	require.Contains(t, ada.refused("verify", ben.handle, ada.run("me")["encryption_key_fingerprint"].(string)), client.ErrFingerprint.Error())

	// The agent finds its own key, and reports that no witness signs.
	require.EqualValues(t, 2, ben.run("watch-key")["agents"])
	require.Contains(t, ben.run("doctor")["key_log"], "not witnessed")
	state := filepath.Join(t.TempDir(), "state")
	require.Contains(t, output(t, []string{"monitor", layer.url, "--state", state}), "not witnessed")

	// One that holds the log's key deceives ada's next friend, and is noticed by ben and by anyone.
	layer.mu.Lock()
	layer.enter(me, fresh(t))
	layer.mu.Unlock()
	for _, args := range [][]string{{"watch-key"}, {"doctor"}, {"watch-key", "--every", "1h"}} {
		fails(t, exitAlarm, client.ErrLabelTwice.Error())(ben.try(args...))
	}
	for _, args := range [][]string{{"--state", state}, {}} {
		fails(t, exitAlarm, client.ErrLabelTwice.Error())(runProgram(t, append([]string{"monitor", layer.url}, args...)))
	}
}

// A log that was forked, cut off or denied is an alarm, with evidence; one that was begun anew waits for a person.
func TestALogThatChangesIsAnAlarm(t *testing.T) {
	t.Parallel()
	layer, _, ada, ben := acquainted(t)
	ben.run("watch-key")
	ada.run("befriend", ben.handle)
	truth := layer.log
	head := truth.Head(-1)
	entries, err := keylog.ParseEntries(truth.Tile(0, int(head.Size)))
	require.NoError(t, err)
	for _, lie := range map[string]func(){
		"fork":   func() { layer.begin(1, entries[1], entries[0], entries[0]) },
		"older":  func() { layer.begin(1, entries[0]) },
		"denied": func() { layer.silent = true },
	} {
		lie()
		fails(t, exitAlarm, client.ErrLogForked.Error())(ben.try("watch-key"))
		layer.silent = false
	}
	evidence, err := filepath.Glob(ben.key + ".trust.fork.*")
	require.NoError(t, err)
	require.Len(t, evidence, 6)

	layer.begin(2, append([]keylog.Entry{keylog.EpochEntry(truth.Origin, head.Root)}, entries...)...)
	layer.mu.Lock()
	layer.epochs = []any{map[string]any{"origin": truth.Origin, "size": head.Size, "root": head.Root[:], "reason": "restored"}}
	for _, entry := range layer.entries {
		entry["index"] = entry["index"].(int64) + 1
	}
	layer.mu.Unlock()
	require.Contains(t, ben.refused("watch-key"), "stoa agent accept-epoch")
	require.Equal(t, "restored", ben.run("accept-epoch")["reason"])
	ben.run("watch-key")
	require.Contains(t, ben.refused("accept-epoch"), "nothing to accept")
	require.Len(t, ada.list("pins"), 1)
}
