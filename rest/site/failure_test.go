package site_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"

	"stoa/graph/graphtest"
)

// failure requires a failure in each form: a page, Markdown, and the error body of the API.
func (w *world) failure(path string, status int, title, code string) {
	w.t.Helper()
	for _, accept := range []string{"", "text/html", "*/*"} {
		got := w.get(path, "Accept", accept).is(status)
		require.NotNil(w.t, got.root, path)
		require.Equal(w.t, title, textOf(got.find("h1")[0]), path)
		require.Equal(w.t, "no-store", got.header.Get("Cache-Control"))
		require.Empty(w.t, got.header.Get("ETag"))
	}
	got := w.get(path, "Accept", "text/markdown").is(status)
	require.Equal(w.t, "text/markdown; charset=utf-8", got.header.Get("Content-Type"))
	require.Contains(w.t, string(got.raw), "# "+title)
	require.Equal(w.t, code, w.get(path, "Accept", "application/json").is(status).json()["error"].(map[string]any)["code"])
}

func TestMissingPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{
		"/nothing", "/@nobody", "/@nobody/feed.atom", "/@", "/@/feed.atom", "/posts/x", "/posts/" + uuid.NewString(), "/tasks/x", "/tasks/" + uuid.NewString(),
		"/services/x", "/services/" + uuid.NewString(), "/services?by=nobody", "/posts/", "/tasks/", "//", "/../etc", "/./", "/posts//x", "/index.html", "/favicon.ico",
		"/@%00", "/@a%2Fb", "/posts/%3Cscript%3E", "/apis", "/owners",
	} {
		w.failure(path, http.StatusNotFound, "There is no such page", "not_found")
	}
	for path, title := range map[string][2]string{
		"/posts?page=0": {"There is no such page of the list", "invalid_pagination"}, "/tasks?page=x": {"There is no such page of the list", "invalid_pagination"},
		"/search?page=1001": {"There is no such page of the list", "invalid_pagination"}, "/posts?kind=x": {"There is no such kind", "invalid_kind"},
		"/tasks?state=x": {"There is no such state", "invalid_input"}, "/search?q=a&q=b": {"That cannot be searched for", "invalid_search"},
		"/search?q=%00": {"That cannot be searched for", "invalid_search"}, "/services?q=%FF": {"That cannot be searched for", "invalid_search"},
	} {
		w.failure(path, http.StatusBadRequest, title[0], title[1])
	}
	for _, path := range []string{"/api", "/api/", "/api/v2", "/api//v1", "//api/v1", "/API/v1", "/mcp/x", "/ws/", "/.well-known/x", "/healthz/", "/x.md", "/x.txt", "/graphql"} {
		got := w.get(path, "Accept", "text/html").is(http.StatusNotFound)
		require.Equal(t, "not_found", got.json()["error"].(map[string]any)["code"], path)
	}
}

func TestOnlyReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/", "/posts", "/tasks", "/search", "/sitemap.xml"} {
		got := w.send(http.MethodPost, path).is(http.StatusMethodNotAllowed)
		require.Equal(t, "GET, HEAD, OPTIONS", got.header.Get("Allow"))
		require.Equal(t, "That does not work here", textOf(got.find("h1")[0]))
		require.Equal(t, "GET, HEAD, OPTIONS", w.send(http.MethodOptions, path).is(http.StatusNoContent).header.Get("Allow"))
	}
}

func TestBrokenServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", nil)
	w.Exec("ALTER TABLE posts RENAME TO away")
	for _, path := range []string{"/", "/posts", "/posts/" + p.post.String(), "/@" + p.handle} {
		w.failure(path, http.StatusInternalServerError, "Something went wrong", "internal_error")
		got := w.get(path, "X-Request-Id", "my-request")
		require.Contains(t, textOf(got.root), "my-request")
		require.NotContains(t, string(got.raw), "away")
	}
	w.Exec("ALTER TABLE away RENAME TO posts")

	away := w.Outage()
	w.failure("/tasks", http.StatusServiceUnavailable, "Stoa is not available at the moment", "service_unavailable")
	require.NotEmpty(t, w.get("/").is(http.StatusServiceUnavailable).header.Get("Retry-After"))
	away()
	require.Eventually(t, func() bool { return w.get("/").status == http.StatusOK }, slack.TestWait, 10*time.Millisecond)

	starting := w.config()
	starting.Graph, starting.Starting = nil, true
	at := w.serve(starting)
	w.failure(at+"/", http.StatusServiceUnavailable, "Stoa is not available at the moment", "service_unavailable")
	w.get(at + "/style.css").is(http.StatusOK)
	without := w.config()
	without.Graph = nil
	w.failure(w.serve(without)+"/", http.StatusNotFound, "There is no such page", "not_found")
}

// Searches without a token share the limit of the API's searches.
func TestSearchesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{SearchesPerMinute: 5}))
	w.get("/search?q=one").is(http.StatusOK)
	w.get("/api/v1/tasks?q=x").is(http.StatusOK)
	refused := w.get("/search?q=two").is(http.StatusTooManyRequests)
	require.Equal(t, "That was too often", textOf(refused.find("h1")[0]))
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	for _, path := range []string{"/", "/search", "/tasks", "/posts"} {
		w.get(path).is(http.StatusOK)
	}
}
