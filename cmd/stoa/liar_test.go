package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	target, err := url.Parse(s.url)
	require.NoError(s.t, err)
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
		changed, err := json.Marshal(whole)
		require.NoError(t, err)
		return changed
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
