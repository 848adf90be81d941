package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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

const logHost = "stoa.example"

// logServer has agents' cards and a key log with its private key. A test can replace its answers.
type logServer struct {
	url string
	t   *testing.T

	mu   sync.Mutex
	logs map[int]*keylogtest.Log
	// published is the member log of stoa-keys.json.
	published map[string]any
	cards     map[string]map[string]any
	// answer, unless nil, answers a request instead if it returns true.
	answer func(w http.ResponseWriter, r *http.Request) bool
	// requests are the methods and paths of the requests since the last look.
	requests []string
}

func newLogServer(t *testing.T) *logServer {
	t.Helper()
	s := &logServer{t: t, logs: make(map[int]*keylogtest.Log), cards: make(map[string]map[string]any)}
	s.begin(1, "log")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// begin starts the log of an epoch, and publishes it.
func (s *logServer) begin(epoch int, key string) *keylogtest.Log {
	l := keylogtest.New(keylog.Origin(logHost, epoch), keylogtest.Private(key))
	s.logs[epoch] = l
	s.published = map[string]any{"origin": l.Origin, "vkeys": []string{l.Key}, "witnesses": []string{}, "epochs": []any{}}
	return l
}

// person is an agent of the server with its card.
type person struct {
	keys client.Keys
	card map[string]any
}

func (p person) id() string { return p.card["id"].(string) }

func (p person) brief() client.Brief {
	key := p.keys.Public()
	return client.Brief{ID: p.id(), Handle: p.card["handle"].(string), Key: &key}
}

// register makes an agent with an entry in the log of the first epoch.
func (s *logServer) register(handle string) person {
	p := s.unsequenced(handle)
	s.sequence(p)
	return p
}

func (s *logServer) unsequenced(handle string) person {
	s.t.Helper()
	keys := must(client.NewKeys())(s.t)
	p := person{keys, map[string]any{
		"id": uuid.NewString(), "handle": handle, "display_name": handle, "encryption_public_key": keys.Public(),
		"created_at": "2026-11-26T10:00:00.123456Z", "key_log": map[string]any{"index": nil, "salt": nil},
	}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cards[p.id()] = p.card
	return p
}

func (s *logServer) sequence(p person) { s.enter(p, p.keys.Public()) }

// enter adds an entry with that key for an agent to the log, and names it in the agent's card.
func (s *logServer) enter(p person, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	salt := []byte(uuid.NewString())[:keylog.SaltSize]
	entry := keylog.Agent{ID: p.id(), Handle: p.card["handle"].(string), Key: key, CreatedAt: p.card["created_at"].(string)}
	p.card["key_log"] = map[string]any{"index": s.logs[1].Append(entry.Entry(logHost, salt)), "salt": salt}
}

// fill adds entries of others.
func (s *logServer) fill(entries int) {
	for range entries {
		s.logs[1].Append(keylog.ReceiptEntry([]byte(uuid.NewString()), "x"))
	}
}

// say sets the answer to a path from now on; nil restores the true answer.
func (s *logServer) say(answer func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.requests = answer, nil
}

// answerAt answers the requests whose path has a part from now on.
func (s *logServer) answerAt(part string, answer http.HandlerFunc) {
	s.say(func(w http.ResponseWriter, r *http.Request) bool {
		has := strings.Contains(r.URL.Path, part)
		if has {
			answer(w, r)
		}
		return has
	})
}

func (s *logServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.requests
	s.requests = nil
	return asked
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if s.answer != nil && s.answer(w, r) {
		return
	}
	var epoch int
	if _, err := fmt.Sscanf(r.URL.Path, "/log/%d/", &epoch); err == nil && s.logs[epoch] != nil {
		s.logs[epoch].ServeHTTP(w, r)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, client.Prefix)
	switch id := strings.TrimPrefix(path, "/bots/"); {
	case path == "/.well-known/stoa-keys.json":
		s.reply(w, http.StatusOK, "keys", []any{}, "log", s.published)
	case id == "me":
		for _, card := range s.cards {
			if r.Header.Get("Authorization") == "Bearer "+card["handle"].(string) {
				s.reply(w, http.StatusOK, "bot", card)
				return
			}
		}
		s.reply(w, http.StatusUnauthorized, "error", map[string]any{"code": "unauthorized"})
	case s.cards[id] != nil:
		s.reply(w, http.StatusOK, "bot", s.cards[id])
	case path == "/bots":
		found := []any{}
		for _, card := range s.cards {
			if card["handle"] == r.FormValue("handle") {
				found = append(found, card)
			}
		}
		s.reply(w, http.StatusOK, "bots", found)
	case path == "/contacts":
		s.reply(w, http.StatusOK, "contacts", []any{})
	case path == "/messages" && r.Method == http.MethodPost:
		var sent map[string]any
		_ = json.NewDecoder(r.Body).Decode(&sent)
		for _, card := range s.cards {
			if r.Header.Get("Authorization") == "Bearer "+card["handle"].(string) {
				sent["sender_id"] = card["id"]
			}
		}
		sent["id"] = uuid.NewString()
		s.reply(w, http.StatusCreated, "message", sent)
	default:
		s.reply(w, http.StatusNotFound, "error", map[string]any{"code": "not_found"})
	}
}

func (s *logServer) reply(w http.ResponseWriter, status int, members ...any) {
	body := make(map[string]any)
	for i := 0; i < len(members); i += 2 {
		body[members[i].(string)] = members[i+1]
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// agent opens the agent of a person; its token is the handle.
func (s *logServer) agent(p person, checks client.Checks) *client.Agent {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "agent.key")
	return s.agentOf(file, p, checks)
}

func (s *logServer) agentOf(file string, p person, checks client.Checks) *client.Agent {
	s.t.Helper()
	handle := p.card["handle"].(string)
	require.NoError(s.t, client.Identity{Origin: s.url, Handle: handle, ID: p.id(), Token: handle, PrivateKey: p.keys.Private()}.Save(file))
	if checks.Patience == 0 {
		checks.Patience = time.Millisecond
	}
	return must(client.OpenAgent(file, s.url, client.Options{Retries: -1, Checks: checks}))(s.t)
}

// recorded returns the answer of a handler.
func recorded(h http.Handler, r *http.Request) []byte {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.Bytes()
}
