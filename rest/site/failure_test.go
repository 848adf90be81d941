package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/slack"
	"stoa/graph/tasks"
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
	w, p := newPublished(t)
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

// Searches without a token share the limit of the API's searches, and have its headers, even if they are refused.
func TestSearchesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{SearchesPerMinute: 5}))
	found := w.get("/search?q=one").is(http.StatusOK)
	require.Regexp(t, `^"searches";r=[1-4];t=\d+$`, found.header.Get("RateLimit"))
	w.get("/api/v1/tasks?q=x").is(http.StatusOK)
	refused := w.get("/search?q=two").is(http.StatusTooManyRequests)
	require.Equal(t, "That was too often", textOf(refused.find("h1")[0]))
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Contains(t, refused.header.Get("RateLimit"), `"searches";r=0;`)
	for _, a := range []*answer{found, refused} {
		require.Equal(t, `"searches";q=5;w=60`, a.header.Get("RateLimit-Policy"))
	}
	for _, path := range []string{"/", "/search", "/tasks", "/posts"} {
		require.Empty(t, w.get(path).is(http.StatusOK).header.Get("RateLimit"))
	}
}

// inOrder requires that a page holds some texts in this order.
func (a *answer) inOrder(texts ...string) {
	a.t.Helper()
	rest := string(a.raw)
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		require.True(a.t, found, "%q is missing or too early in %v", text, texts)
		rest = after
	}
}

// An agent's page has its open tasks, in every form.
func TestOpenTasksOfAnAgent(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	w.Tasked(w.Agent(), "Task of another", "x", 100)
	path := "/@" + p.handle
	for _, form := range forms {
		raw := string(w.get(path, "Accept", form).is(http.StatusOK).raw)
		require.Contains(t, raw, "Task of zephyr", form)
		require.Contains(t, raw, p.task.String(), form)
		require.NotContains(t, raw, "Task of another", form)
	}
	graphtest.OK(t)(w.Tasks.CloseTask(p.Ctx, tasks.TaskInput{TaskID: p.task.String()}))
	for _, form := range forms {
		require.NotContains(t, string(w.get(path, "Accept", form).is(http.StatusOK).raw), "Task of zephyr", form)
	}
	require.Equal(t, []any{}, w.get(path, "Accept", pages.JSON).json()["tasks"])
}

// A work's page shows the agents that it mentions, without its author, and further works of its author.
func TestAroundAWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, named, other := w.publish("zephyr", nil), w.Agent(), w.Agent()
	work := w.Posted(author.Agent, "By @"+author.handle+", with @"+w.handle(named)+".", "public")
	private := w.Posted(author.Agent, "In secret", "private")
	w.Posted(other, "Of another", "public")
	page := w.get("/posts/" + work.ID.String()).is(http.StatusOK)
	page.inOrder("<h2>Agents named in it</h2>", `href="/@`+w.handle(named)+`"`, "</ul>", "More by <bdi>Name of zephyr</bdi> @"+author.handle+"</h2>", "Title of zephyr")
	_, credits, _ := strings.Cut(string(page.raw), "<h2>Agents named in it</h2>")
	credits, more, _ := strings.Cut(credits, "More by")
	require.NotContains(t, credits, author.handle)
	require.NotContains(t, more, work.ID.String())
	for _, foreign := range []string{"In secret", private.ID.String(), "Of another"} {
		require.NotContains(t, string(page.raw), foreign)
	}
	require.NotContains(t, string(w.get("/posts/"+author.post.String()).is(http.StatusOK).raw), "Agents named in it</h2>")
	w.Show(named, false)
	require.NotContains(t, string(w.get("/posts/"+work.ID.String()).is(http.StatusOK).raw), "Agents named in it</h2>")
}

// The first page shows the most recently active agents, each once, and lists show texts without their Markdown.
func TestFirstPageShowsActiveAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 8 {
		w.Agent()
	}
	last := w.Agent()
	w.Exec("UPDATE bots SET created_at = created_at - interval '1 day', display_name = 'Zoe' WHERE id = $1", last.ID)
	w.Tasked(w.Agent(), "Marked", "# A *head*\n\n| a | b |\n|---|---|\n| c | d |\n\n- to do", 100)
	w.Posted(last, "**Bold** words", "public")
	page := w.get("/").is(http.StatusOK)
	var shown []string
	for _, n := range page.find("li") {
		if attribute(n, "class") == "person" {
			shown = append(shown, textOf(n))
		}
	}
	require.Len(t, shown, 6)
	require.Contains(t, shown[0], "Zoe")
	text := textOf(page.root)
	require.Contains(t, text, "A head to do")
	require.Contains(t, text, "Bold words")
	require.NotContains(t, text, "**")
	require.NotContains(t, text, "|")
}
