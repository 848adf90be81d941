package main

import (
	"bytes"
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

// strangers returns two agents that use commands behind a server that may lie, and do not know each other's keys yet.
func strangers(t *testing.T) (l *tamperingProxy, ada, ben commandLine) {
	t.Helper()
	s := sharedServer(t)
	l = s.tamperingProxy()
	s.url = l.url
	ada, ben = s.named("ada_trusts"), s.named("ben_trusted")
	ada.run("register", ada.handle)
	ben.run("register", ben.handle)
	return l, ada, ben
}

// befriended returns strangers who have become friends.
func befriended(t *testing.T) (l *tamperingProxy, ada, ben commandLine) {
	t.Helper()
	l, ada, ben = strangers(t)
	ada.run("befriend", "@"+strings.ToUpper(ben.handle))
	ben.run("befriend", ada.handle)
	return l, ada, ben
}

// handles counts the handles of named.
var handles atomic.Int64

// named is commandLine for an agent with a unique handle that begins with begin.
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

	l.tamper(replacing(key, fresh(t)))
	for _, args := range [][]string{
		{"send", ben.handle, "hello again"}, {"send", id, "hello again"}, {"befriend", "@" + ben.handle}, offerTo(ben),
		{"read", ben.handle},
	} {
		fails(t, exitFailure, "stoa agent unpin @"+ben.handle, pins[0]["fingerprint"].(string))(ada.try(args...))
	}
	require.Empty(t, l.posted())

	// Another agent under a known handle is refused as well.
	l.tamper(replacing(id, uuid.NewString()))
	require.Contains(t, ada.refused("send", ben.handle, "hello again"), "stoa agent unpin @"+ben.handle)

	// A key that the owner of the key file unpins is pinned anew.
	l.tamper(nil)
	require.Equal(t, pins[0]["fingerprint"], ada.run("unpin", "@"+ben.handle)["fingerprint"])
	require.Empty(t, ada.list("pins"))
	require.Contains(t, ada.refused("unpin", ben.handle), "no key of "+ben.handle+" is pinned")
	ada.run("send", ben.handle, "hello again")
	require.Len(t, ada.list("pins"), 1)
}

// A message of another conversation is not opened in this one, and the answer to a sent message must be the same message.
// TestRefusedMessagesAreNamed tests the other false messages.
func TestMessagesMatchTheirRecords(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	carol := (&testServer{t: t, url: l.url}).registered("carol_stranger")
	befriend(ada, carol)
	ben.run("send", ada.handle, "no")
	carol.run("send", ada.handle, "pay me")
	carolID := idOf(carol)
	var theirs []byte
	l.tamper(func(r *http.Request, answer []byte) []byte {
		if r.URL.Query().Get("peer") == carolID {
			theirs = answer
		} else if r.URL.Path == "/api/v1/messages" {
			return theirs
		}
		return answer
	})
	require.Equal(t, "pay me", ada.list("read", carolID)[0]["text"])
	read := ada.list("read", ben.handle)
	require.Len(t, read, 1)
	require.Contains(t, read[0]["error"], "no message of this conversation")
	require.Empty(t, read[0]["text"])

	const id = "0192f0c1-3333-4000-8000-000000000004"
	l.tamper(replacing(id, uuid.NewString()))
	require.Contains(t, ada.refused("send", ben.handle, "hello", "--id", id), "another message than the one sent")
}

// A receipt is accepted only for its own order, even if it is genuine.
func TestAReceiptOfAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	asked, other := completed(ada, ben, "A sonnet"), completed(ada, ben, "An ode")
	require.NoError(t, os.Remove(ada.key+".trust")) // a receipt is valid even if its reader knows no agent
	path := filepath.Join(t.TempDir(), "receipt.json")
	for _, order := range []string{asked, other} { // the last one remains in the file
		eventually(t, func() bool { return ada.works("receipt", strings.ToUpper(order), "--out", path) }, "the receipt has no proof")
	}
	l.tamper(func(request *http.Request, answer []byte) []byte {
		if strings.HasSuffix(request.URL.Path, asked+"/receipt") {
			return []byte(readFile(t, path))
		}
		return answer
	})
	require.Contains(t, ada.refused("receipt", asked), "of another order")
}

// tamperingProxy is a proxy in front of a real server that changes the answers as a test requires.
type tamperingProxy struct {
	http.Handler
	url string
	// missing is a path that is answered 404.
	missing string

	mu     sync.Mutex
	change func(request *http.Request, answer []byte) []byte
	// posts are the paths of POST requests since the last call of tamper.
	posts []string
}

// tamperingProxy starts a proxy that changes nothing at first.
func (s *testServer) tamperingProxy() *tamperingProxy {
	s.t.Helper()
	target := graphtest.Got(url.Parse(s.url))(s.t)
	l := new(tamperingProxy)
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

// tamper changes the answers from now on; nil passes them on unchanged.
func (l *tamperingProxy) tamper(change func(request *http.Request, answer []byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change, l.posts = change, nil
}

func (l *tamperingProxy) posted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.posts
}

// replacing returns a change that replaces one text by another everywhere.
func replacing(old, changed string) func(*http.Request, []byte) []byte {
	return func(_ *http.Request, answer []byte) []byte {
		return bytes.ReplaceAll(answer, []byte(old), []byte(changed))
	}
}
