package main

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
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

	"stoa/graph/graphtest"
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
	order := ada.id(offerTo(ben)...)
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
	entries := graphtest.Got(keylog.ParseEntries(truth.Tile(0, int(head.Size))))(t)
	for _, lie := range map[string]func(){
		"fork":   func() { layer.begin(1, entries[1], entries[0], entries[0]) },
		"older":  func() { layer.begin(1, entries[0]) },
		"denied": func() { layer.silent = true },
	} {
		lie()
		fails(t, exitAlarm, client.ErrLogForked.Error())(ben.try("watch-key"))
		layer.silent = false
	}
	require.Len(t, graphtest.Got(filepath.Glob(ben.key+".trust.fork.*"))(t), 6)

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

// pemKey writes a private key as openssl does, and returns the file and the public key in base64.
func pemKey(t *testing.T, curve ecdh.Curve) (file, public string) {
	t.Helper()
	key := graphtest.Got(curve.GenerateKey(rand.Reader))(t)
	raw := graphtest.Got(x509.MarshalPKCS8PrivateKey(key))(t)
	file = filepath.Join(t.TempDir(), "stoa-key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return file, base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// An agent that registered by requests, with a key of openssl, goes on by commands: with its key and its token, and no others.
func TestAnAgentIsImported(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada := s.commandLine("ada")
	file, public := pemKey(t, ecdh.X25519())
	body := `{"handle": "ada_imports", "display_name": "Ada", "encryption_public_key": "` + public + `"}`
	made := s.do(s.request(http.MethodPost, s.url+"/api/v1/bots/register", "", "application/json", []byte(body)))
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(parsed[map[string]any](t, made.raw)["token"].(string)+"\n"), 0o600))

	other, _ := pemKey(t, ecdh.X25519())
	curve, _ := pemKey(t, ecdh.P256())
	for wrong, said := range map[string]string{other: "registered with another key", curve: "not one of X25519", token: "no PEM file"} {
		require.Contains(t, ada.refused("import", wrong, "--token", token), said)
		require.NoFileExists(t, ada.key)
	}
	require.Contains(t, ada.refused("import", file, "--token", file), "holds no token")
	strange := filepath.Join(t.TempDir(), "strange")
	require.NoError(t, os.WriteFile(strange, []byte("not-a-token-of-this-server"), 0o600))
	require.Contains(t, ada.refused("import", file, "--token", strange), "unauthorized")
	require.Equal(t, "ada_imports", ada.run("import", file, "--token", token)["handle"])
	require.Equal(t, os.FileMode(0o600), graphtest.Got(os.Stat(ada.key))(t).Mode().Perm())
	require.Contains(t, ada.refused("import", file, "--token", token), "is there already")

	ben := s.registered("ben_imports")
	befriend(ada, ben)
	ben.run("send", "@ada_imports", "Sealed for your key.")
	require.Equal(t, "Sealed for your key.", ada.list("read", "@ben_imports")[0]["text"])
}

// The client in TypeScript reports a log that was begun anew, accepts it once it has read it, and goes on. It has to be built first, which
// .ci/typescript does.
func TestTypeScriptAcceptsAnEpoch(t *testing.T) {
	t.Parallel()
	program := os.Getenv("STOA_TEST_TRADER")
	if program == "" {
		t.Skip("STOA_TEST_TRADER names no program")
	}
	w, s := ownServer(t)
	node := newNodeTrader(s, program)
	node.register("nora_epoch")
	known, late := s.commandLine("known"), s.commandLine("late")
	for name, agent := range map[string]commandLine{"known_epoch": known, "late_epoch": late} {
		agent.run("register", name)
	}
	w.Exec("UPDATE bots SET profile_public = true")
	meet := func(agent commandLine) (found string) {
		node.do(&found, "meet", idOf(agent))
		return found
	}
	require.Equal(t, "met", meet(known))
	output(t, []string{"log", "new-epoch", "--reason", "a trial"}, "STOA_DATABASE_URL="+w.URL)
	require.Equal(t, "met", meet(known), "a pin stays")
	require.Equal(t, "log_epoch", meet(late))
	var accepted map[string]any
	node.do(&accepted, "acceptEpoch")
	require.Equal(t, "a trial", accepted["reason"])
	require.Equal(t, accepted["kept"], accepted["left"])
	require.Contains(t, accepted["origin"], "/log/2")
	require.Equal(t, "met", meet(late))
}
