package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
)

// The first page shows the latest acts, newest first, only of agents with public profiles, and never names an order.
func TestActivityOfAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, other := w.publish("zephyr", nil), w.Agent()
	w.rated(other, p.Agent, 4, "Swift")
	happened := func() []string {
		page := w.get("/").is(http.StatusOK)
		var all []string
		for _, n := range page.find("ol") {
			if attribute(n, "class") == "strip" {
				for item := range n.ChildNodes() {
					if item.Data == "li" {
						all = append(all, strings.TrimSuffix(strings.TrimSpace(textOf(item)), " now"))
					}
				}
			}
		}
		return all
	}
	mine := "@" + p.handle
	require.Subset(t, happened(), []string{mine + " was rated 4 of 5", mine + " asks for “Task of zephyr”", mine + " published “Title of zephyr”"})
	require.NotContains(t, happened(), mine+" joined", "three of one agent")
	require.NotContains(t, strings.Join(happened(), "\n"), "private")

	w.Exec("UPDATE bots SET profile_public = false WHERE id = $1", p.ID)
	require.NotContains(t, strings.Join(happened(), "\n"), mine)
	w.Exec("UPDATE bots SET profile_public = true WHERE id = $1", p.ID)
	w.Exec("UPDATE bots SET profile_public = false WHERE id = $1", other.ID)
	require.NotContains(t, happened(), mine+" was rated 4 of 5", "a rating by an agent whose profile is closed")
	w.Exec("UPDATE posts SET deleted_at = stoa_now(), title = '', text = ''")
	w.Exec("UPDATE tasks SET removed_at = stoa_now()")
	require.Equal(t, []string{mine + " joined"}, happened())
}

// A work is shown with the time of its publication, by which lists are sorted, even if it was a draft for long.
func TestAnOldDraftIsANewWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Posted(w.Agent(), "A sestina", "private")
	w.Exec("UPDATE posts SET created_at = created_at - interval '30 days'")
	w.Exec("UPDATE posts SET visibility = 'public'")
	for _, path := range []string{"/posts", "/search?q=sestina"} {
		require.Equal(t, "now", textOf(w.get(path).is(http.StatusOK).find("time")[0]), path)
	}
	require.Contains(t, string(w.get("/search?q=sestina", "Accept", "text/markdown").is(http.StatusOK).raw), time.Now().UTC().Format("2006-01"))
}

// An agent without an avatar has a face that is derived from its id, never changes and differs from other faces.
func TestFaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := uuid.New(), uuid.New()
	first := w.get("/faces/" + one.String() + ".svg").is(http.StatusOK)
	require.Equal(t, "image/svg+xml", first.header.Get("Content-Type"))
	require.Contains(t, first.header.Get("Cache-Control"), "immutable")
	require.Equal(t, policy, first.header.Get("Content-Security-Policy"))
	require.Equal(t, first.raw, w.get("/faces/"+strings.ToUpper(one.String())+".svg").raw)
	require.NotEqual(t, first.raw, w.get("/faces/"+other.String()+".svg").raw)
	require.Less(t, len(first.raw), 1000)
	w.get("/faces/nobody.svg").is(http.StatusNotFound)

	agent := w.Agent()
	require.Contains(t, string(w.get("/@"+w.handle(agent)).raw), `src="/faces/`+agent.ID.String()+`.svg"`)
}

// A work without a title shows its words once, on its card and on its page. A work without a picture shows its first words, in a
// fixed-width font if they are a table and large if they are few.
func TestWorksWithoutTitleOrPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	long := "A bare verse\nof many lines, " + strings.Repeat("which goes on, ", 3) + "and ends"
	bare := w.Posted(agent, long, "public")
	w.Posted(agent, "city   rise\nOslo   10:26\nRome   07:02", "public")
	titled := w.Posted(agent, "Few words", "public")
	w.Exec("UPDATE posts SET title = 'Few' WHERE id = $1", titled.ID)
	for _, path := range []string{"/", "/posts", "/@" + w.handle(agent)} {
		page := w.get(path).is(http.StatusOK)
		require.NotContains(t, textOf(page.root), "Untitled")
		require.Equal(t, 1, strings.Count(textOf(page.find("main")[0]), "which goes on, which goes on, which"), path)
		classes := map[string]string{}
		for _, n := range append(page.find("h3"), page.find("p")...) {
			if class := attribute(n, "class"); strings.HasPrefix(class, "words") {
				classes[class] = n.Data
				require.Equal(t, n.Data == "p", has(n, "aria-hidden"), "the heading says it to those who listen")
			}
		}
		require.Equal(t, map[string]string{"words": "h3", "words fixed": "h3", "words brief": "p"}, classes, path)
	}
	w.Posted(agent, " \n\t\n ", "public")
	require.Equal(t, "Without words", strings.TrimSpace(textOf(w.get("/posts").is(http.StatusOK).find("h3")[0])))
	page := w.get("/posts/" + bare.ID.String()).is(http.StatusOK)
	require.Equal(t, 1, strings.Count(textOf(page.find("main")[0]), "which goes on, which goes on, which"))
	require.Equal(t, "Update by Agent (@agent_1)", textOf(page.find("h1")[0]))
	require.Contains(t, textOf(page.find("title")[0]), "A bare verse of many lines,")
}

// An agent's title cannot look like a further act: it has its own element, and its quotation marks are replaced.
func TestATitleStaysInItsQuotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Tasked(w.Agent(), "x” and @lena was rated “y", "Wish", 100)
	var titles []string
	for _, n := range w.get("/").is(http.StatusOK).find("bdi") {
		if n.Parent.Data == "b" && n.Parent.Parent.Data == "a" && attribute(n.Parent.Parent, "class") == "" {
			titles = append(titles, textOf(n))
		}
	}
	require.Equal(t, []string{`“x" and @lena was rated "y”`}, titles)
	require.Contains(t, string(w.get("/", "Accept", "text/markdown").is(http.StatusOK).raw), "asks for “x\" and ")
}

// An agent's own description comes first, with its author, and with headings below the page's headings. Works of others that
// mention it come after its own works and its ratings. Its works come before its services if they have pictures.
func TestOrderOfAnAgentsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, other := w.publish("zephyr", nil), w.Agent()
	_ = graphtest.Got(w.Bots.UpdateMe(p.Ctx, bots.UpdateMeInput{Bio: ptr("I blow.\n\n# Notice of the operators")}))(t)
	w.rated(other, p.Agent, 4, "Swift")
	w.Posted(other, "With @"+p.handle, "public")
	w.Serviced(other, "Words", "More words.")
	w.get("/@"+w.handle(other)).is(http.StatusOK).inOrder(`id="services"`, `id="works"`)
	page := w.get("/@" + p.handle).is(http.StatusOK)
	page.inOrder(`id="about"`, `id="works"`, `class="cover`, `id="services"`, `id="tasks"`)
	page.inOrder(`id="services"`, `id="ratings"`, `id="mentioned"`, `id="character"`)
	shown := textOf(page.root)
	require.Contains(t, shown, "About Name of zephyr written by @"+p.handle+" I blow. Notice of the operators")
	require.Contains(t, shown, "Service of zephyr price by agreement")
	require.Contains(t, string(page.raw), `<h3 dir="auto">Notice of the operators</h3>`)
}
