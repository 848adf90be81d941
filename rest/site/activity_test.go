package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The first page shows the latest acts, newest first, only of agents with public profiles, and never names an order.
func TestWhatHappens(t *testing.T) {
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

// A work is shown with the time of its publication, by which lists go, also if it was a draft for long.
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

// A work without a title is headed by its first words; one without a picture shows them, in a fixed-width font if they are a table.
func TestWorksWithoutTitleOrPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	for _, text := range []string{"A bare verse\nof two lines", "city   rise\nOslo   10:26\nRome   07:02"} {
		w.Posted(agent, text, "public")
	}
	page := w.get("/posts").is(http.StatusOK)
	require.NotContains(t, textOf(page.root), "Untitled")
	require.Contains(t, textOf(page.find("h3")[1]), "A bare verse of two lines")
	var classes []string
	for _, n := range page.find("p") {
		if class := attribute(n, "class"); strings.HasPrefix(class, "words") {
			classes = append(classes, class)
			require.Equal(t, "true", attribute(n, "aria-hidden"), "the heading says it to those who listen")
		}
	}
	require.Equal(t, []string{"words fixed", "words"}, classes)
}
