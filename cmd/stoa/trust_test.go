package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// strangers are two agents by commands behind a server that may lie, who do not know each other's keys yet.
func strangers(t *testing.T) (l *liar, ada, ben commandLine) {
	t.Helper()
	s := sharedServer(t)
	l = s.liar()
	s.url = l.url
	ada, ben = s.named("ada_trusts"), s.named("ben_trusted")
	ada.run("register", ada.handle)
	ben.run("register", ben.handle)
	return l, ada, ben
}

// befriended are strangers who have become friends.
func befriended(t *testing.T) (l *liar, ada, ben commandLine) {
	t.Helper()
	l, ada, ben = strangers(t)
	ada.run("befriend", "@"+strings.ToUpper(ben.handle))
	ben.run("befriend", ada.handle)
	return l, ada, ben
}

// handles counts the handles of named.
var handles atomic.Int64

// named is commandLine for an agent with a unique handle that begins like that.
func (s *testServer) named(begin string) commandLine {
	c := s.commandLine(begin)
	c.handle = fmt.Sprintf("%s_%d", begin, handles.Add(1))
	return c
}

// fresh is a public key of an unknown agent.
func fresh(t testing.TB) string {
	t.Helper()
	return graphtest.Got(client.NewKeys())(t).Public()
}

// If a known agent's name gets another key, nothing is sealed, opened, offered, asked or posted any more.
func TestAChangedKeyStopsEverything(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	ada.run("send", ben.handle, "hello")
	ben.run("send", ada.handle, "hello yourself")
	key, id := ben.run("me")["encryption_public_key"].(string), idOf(ben)
	require.Equal(t, os.FileMode(0o600), graphtest.Got(os.Stat(ada.key+".trust"))(t).Mode().Perm())
	pins := ada.list("pins")
	require.Len(t, pins, 1)
	require.Equal(t, ben.handle, pins[0]["handle"])
	require.Equal(t, ben.run("me")["encryption_key_fingerprint"], pins[0]["fingerprint"])

	l.lie(replacing(key, fresh(t)))
	for _, args := range [][]string{
		{"send", ben.handle, "hello again"}, {"send", id, "hello again"}, {"befriend", "@" + ben.handle}, offerTo(ben),
		{"read", ben.handle},
	} {
		fails(t, exitFailure, "stoa agent unpin @"+ben.handle, pins[0]["fingerprint"].(string))(ada.try(args...))
	}
	require.Empty(t, l.posted())

	// Another agent under a known handle is refused as well.
	l.lie(replacing(id, uuid.NewString()))
	require.Contains(t, ada.refused("send", ben.handle, "hello again"), "stoa agent unpin @"+ben.handle)

	// A key that the owner of the key file forgets by hand is pinned anew.
	l.lie(nil)
	require.Equal(t, pins[0]["fingerprint"], ada.run("unpin", "@"+ben.handle)["fingerprint"])
	require.Empty(t, ada.list("pins"))
	require.Contains(t, ada.refused("unpin", ben.handle), "no key of "+ben.handle+" is pinned")
	ada.run("send", ben.handle, "hello again")
	require.Len(t, ada.list("pins"), 1)
}

// A message that does not match its record is not opened: one's own as the other's, one under another id, one of another
// conversation, one to another agent.
func TestMessagesMatchTheirRecords(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	s := &testServer{t: t, url: l.url}
	carol := s.registered("carol_stranger")
	befriend(ada, carol)
	ada.run("send", ben.handle, "pay carol")
	ben.run("send", ada.handle, "no")
	carol.run("send", ada.handle, "pay me")
	carolID, adaID, adaKey := idOf(carol), idOf(ada), ada.run("me")["encryption_public_key"].(string)
	carolKey := carol.run("me")["encryption_public_key"].(string)

	texts := func() (opened map[string]bool, failed []string) {
		opened = make(map[string]bool)
		for _, message := range ada.list("read", ben.handle) {
			if message["error"] != nil {
				require.Empty(t, message["text"])
				failed = append(failed, message["error"].(string))
				continue
			}
			require.Equal(t, true, message["bound"])
			opened[message["text"].(string)] = message["sent_by_me"].(bool)
		}
		return opened, failed
	}
	truth, failed := texts()
	require.Equal(t, map[string]bool{"pay carol": true, "no": false}, truth)
	require.Empty(t, failed)
	for name, row := range map[string]struct {
		lie  func(map[string]any)
		says error
	}{
		"reflected":  {reflected, client.ErrReflected},
		"another id": {func(m map[string]any) { m["client_message_id"] = uuid.NewString() }, client.ErrAltered},
		"another conversation": {func(m map[string]any) {
			m["sender_id"], m["sender_public_key"], m["recipient_id"], m["recipient_public_key"] = carolID, carolKey, adaID, adaKey
		}, client.ErrAltered},
		"to another":   {func(m map[string]any) { m["recipient_id"] = carolID }, client.ErrAltered},
		"from another": {func(m map[string]any) { m["sender_id"] = carolID }, client.ErrAltered},
		"another key of mine": {func(m map[string]any) {
			for _, side := range []string{"sender_public_key", "recipient_public_key"} {
				if m[side] == adaKey {
					m[side] = carolKey
				}
			}
		}, client.ErrAltered},
	} {
		l.lie(onMessages(t, row.lie))
		opened, failed := texts()
		require.Empty(t, opened, name)
		require.Len(t, failed, 2, name)
		for _, complaint := range failed {
			require.Contains(t, complaint, row.says.Error(), name)
		}
	}
	l.lie(nil)
	// Even the true messages of another conversation do not belong into this one.
	var theirs []byte
	l.lie(func(r *http.Request, answer []byte) []byte {
		if r.URL.Query().Get("peer") == carolID {
			theirs = answer
		} else if r.URL.Path == "/api/v1/messages" {
			return theirs
		}
		return answer
	})
	require.Equal(t, "pay me", ada.list("read", carolID)[0]["text"])
	_, failed = texts()
	require.Len(t, failed, 1)
	require.Contains(t, failed[0], "no message of this conversation")

	// The answer to a message has to be that message.
	l.lie(onMessages(t, func(m map[string]any) { m["client_message_id"] = uuid.NewString() }))
	require.Contains(t, ada.refused("send", ben.handle, "hello"), "another message than the one sent")
}

// A receipt is only accepted for its own order, however true it is.
func TestAReceiptOfAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	asked, other := completed(ada, ben, "A sonnet"), completed(ada, ben, "An ode")
	path := filepath.Join(t.TempDir(), "receipt.json")
	for _, order := range []string{asked, other} { // the last one remains in the file
		eventually(t, func() bool { return ada.works("receipt", strings.ToUpper(order), "--out", path) }, "the receipt has no proof")
	}
	l.lie(func(request *http.Request, answer []byte) []byte {
		if strings.HasSuffix(request.URL.Path, asked+"/receipt") {
			return []byte(readFile(t, path))
		}
		return answer
	})
	require.Contains(t, ada.refused("receipt", asked), "of another order")
}

// liar stands before a true server, passes everything on, and changes the answers as a test tells it to.
type liar struct {
	http.Handler
	url string
	// missing is a path that is answered 404.
	missing string

	mu     sync.Mutex
	change func(request *http.Request, answer []byte) []byte
	// posts are the paths that were posted to since the last lie began.
	posts []string
}

// liar starts a liar that is honest at first.
func (s *testServer) liar() *liar {
	s.t.Helper()
	target := graphtest.Got(url.Parse(s.url))(s.t)
	l := new(liar)
	l.Handler = &httputil.ReverseProxy{
		Transport: new(http.Transport),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding")
			l.mu.Lock()
			defer l.mu.Unlock()
			if r.In.Method == http.MethodPost {
				l.posts = append(l.posts, strings.TrimPrefix(r.In.URL.Path, "/api/v1"))
			}
		},
		ModifyResponse: func(r *http.Response) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.change == nil || r.StatusCode == http.StatusSwitchingProtocols {
				return nil
			}
			whole, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			whole = l.change(r.Request, whole)
			if r.Request.URL.Path == l.missing {
				r.StatusCode = http.StatusNotFound
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(whole)), int64(len(whole))
			r.Header.Set("Content-Length", strconv.Itoa(len(whole)))
			return nil
		},
	}
	proxy := httptest.NewServer(l)
	s.t.Cleanup(proxy.Close)
	l.url = proxy.URL
	return l
}

// lie changes the answers from now on; nil passes them on unchanged.
func (l *liar) lie(change func(request *http.Request, answer []byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change, l.posts = change, nil
}

func (l *liar) posted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.posts
}

// replacing returns a lie that replaces one text by another everywhere.
func replacing(old, lie string) func(*http.Request, []byte) []byte {
	return func(_ *http.Request, answer []byte) []byte { return bytes.ReplaceAll(answer, []byte(old), []byte(lie)) }
}

// onMessages is a lie about messages, wherever one stands in an answer.
func onMessages(t testing.TB, change func(message map[string]any)) func(*http.Request, []byte) []byte {
	t.Helper()
	return func(_ *http.Request, answer []byte) []byte {
		var whole any
		if json.Unmarshal(answer, &whole) != nil {
			return answer
		}
		eachMessage(whole, change)
		return graphtest.Got(json.Marshal(whole))(t)
	}
}

func eachMessage(value any, change func(map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			eachMessage(one, change)
		}
	case map[string]any:
		if value["ciphertext"] != nil {
			change(value)
			return
		}
		for _, one := range value {
			eachMessage(one, change)
		}
		if sealed, ok := value["message"].(map[string]any); ok && value["sender_id"] != nil { // an event names the sender twice
			value["sender_id"] = sealed["sender_id"]
		}
	}
}

// reflected shows the words of one side as the other's.
func reflected(message map[string]any) {
	for _, name := range []string{"id", "public_key"} {
		message["sender_"+name], message["recipient_"+name] = message["recipient_"+name], message["sender_"+name]
	}
}
