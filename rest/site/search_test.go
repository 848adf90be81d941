package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/wire"
	"stoa/graph/services"
)

// worksFoundBy returns the texts of the works that a search shows, in order.
func (w *world) worksFoundBy(q string) (texts []string) {
	w.t.Helper()
	for _, work := range w.get("/search?q="+q, "Accept", pages.JSON).is(http.StatusOK).json()["posts"].([]any) {
		texts = append(texts, work.(map[string]any)["text"].(string))
	}
	return texts
}

// A search finds works, newest first: common words among the newest works, rare words in all works, and never hidden works.
func TestSearchFindsWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, closed := w.Agent(), w.Agent()
	w.Posted(author, "A Heron at dusk", "public")
	w.Posted(author, "A secret heron", "private")
	w.Posted(closed, "A hidden heron", "public")
	w.Show(closed, false)
	require.Equal(t, []string{"A Heron at dusk"}, w.worksFoundBy("hERon"))
	require.Equal(t, []string{"A Heron at dusk"}, w.worksFoundBy("n%20at%20d"))
	require.Empty(t, w.worksFoundBy("harbour"))
	require.Contains(t, textOf(w.get("/search?q=heron").is(http.StatusOK).root), "Works A Heron at dusk")
	require.Contains(t, string(w.get("/search?q=heron", "Accept", pages.Markdown).is(http.StatusOK).raw), "## Work: A Heron at dusk")

	for i := range 80 {
		w.Posted(author, fmt.Sprint("Sketch ", i), "public")
	}
	require.Equal(t, []string{"Sketch 79", "Sketch 78", "Sketch 77", "Sketch 76", "Sketch 75", "Sketch 74"}, w.worksFoundBy("sketch"))
	require.Equal(t, []string{"A Heron at dusk"}, w.worksFoundBy("heron"), "below the newest")
}

// A list marks an agent that took its name after another agent of the list with a similar name, even if it registered first. The
// other agent is not marked, even if it changes the spelling of its name. Numbered agents of a fleet do not resemble each other.
func TestTheLaterOfTwoLookAlikesIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sleeper, elder, younger := w.Agent(), w.Agent(), w.Agent()
	w.Exec("UPDATE bots SET handle = 'quick_oak', display_name = 'Quick Oak' WHERE id = $1", elder.ID)
	w.Exec("UPDATE bots SET handle = 'quick_0ak', display_name = 'Quick Oak' WHERE id = $1", younger.ID)
	for i, one := range []*graphtest.Agent{w.Agent(), w.Agent()} {
		w.Exec("UPDATE bots SET handle = $2, display_name = $3 WHERE id = $1", one.ID, fmt.Sprint("fleet_", i+1), fmt.Sprint("Fleet ", i+1))
	}
	const mark = "not @quick_oak, who had such a name before"
	for _, path := range []string{"/", "/search", "/search?q=quick"} {
		shown := textOf(w.get(path).is(http.StatusOK).root)
		require.Equal(t, 1, strings.Count(shown, "who had such a name before"), shown)
		require.Contains(t, shown, "@quick_0ak "+mark, path)
	}
	require.Contains(t, string(w.get("/search", "Accept", pages.Markdown).is(http.StatusOK).raw), "/@quick_0ak, "+mark)
	require.Contains(t, string(w.get("/", "Accept", pages.Markdown).is(http.StatusOK).raw), "(@quick_0ak), "+mark)

	w.Exec("UPDATE bots SET display_name = 'Quick Oak' WHERE id = $1", sleeper.ID)
	w.Exec("UPDATE bots SET display_name = 'QUICK ÓAK' WHERE id = $1", elder.ID)
	shown := textOf(w.get("/search?q=quick").is(http.StatusOK).root)
	require.Equal(t, 2, strings.Count(shown, mark), shown)
	require.Contains(t, shown, "@"+w.handle(sleeper)+" "+mark)
	w.Exec("UPDATE bots SET display_name = 'fleet_1' WHERE id = $1", younger.ID)
	require.Regexp(t, "@quick_0ak not (@quick_oak or @fleet_1|@fleet_1 or @quick_oak), who", textOf(w.get("/search").is(http.StatusOK).root))
}

// The price of a service is shown with the service, in both forms for readers; works without a title have a heading.
func TestPricesAndHeadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	offered := graphtest.Got(w.Services.CreateService(agent.Ctx, services.CreateServiceInput{Fields: services.Fields{
		Title: ptr("Etching"), Description: ptr("On copper."), AmountMinor: wire.Nullable[int64]{Set: true, Value: 4250},
	}}))(t)
	w.Posted(agent, "A line of zinc\nand another", "public")
	for _, path := range []string{"/", "/services", "/services/" + offered.Service.ID.String(), "/search?q=etching", "/@" + w.handle(agent)} {
		for _, form := range forms[:2] {
			require.Contains(t, string(w.get(path, "Accept", form).is(http.StatusOK).raw), "42.50", "%s %s", path, form)
		}
	}
	for _, path := range []string{"/", "/posts", "/@" + w.handle(agent)} {
		require.Contains(t, string(w.get(path, "Accept", "text/markdown").is(http.StatusOK).raw), "# A line of zinc", path)
	}
}

// An agent has one address, and other spellings redirect to it, in every form and whether or not the agent exists.
func TestAHandleWithCapitalsLeadsToTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handle := w.handle(w.Agent())
	upper := strings.ToUpper(handle)
	for path, to := range map[string]string{
		"/@" + upper: "/@" + handle, "/@" + strings.ToUpper(handle[:1]) + handle[1:]: "/@" + handle, "/%40" + upper: "/@" + handle,
		"/@@" + handle: "/@" + handle, "/@" + upper + "?kind=update&page=2": "/@" + handle + "?kind=update&page=2",
		"/@" + upper + "?x=%0d%0aSet-Cookie:a": "/@" + handle + "?x=%0d%0aSet-Cookie:a",
		"/@" + upper + "/feed.atom":            "/@" + handle + "/feed.atom", "/@Nobody_Here": "/@nobody_here",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, accept := range []string{"text/html", "text/markdown", "application/json"} {
				moved := w.send(method, path, "Accept", accept).is(http.StatusPermanentRedirect)
				require.Equal(t, to, moved.header.Get("Location"), path)
				require.Empty(t, moved.raw)
			}
		}
	}
	for _, path := range []string{"/@" + handle, "/%40" + handle, "/%40" + handle + "/feed.atom"} {
		w.get(path).is(http.StatusOK)
	}
	for _, path := range []string{"/@Ab", "/@É" + handle, "/@\u212A" + handle, "/@OTTO%2F", "/@//evil.example", "/@A%2f%2fevil.example", "/@OTTO/", "/@OTTO/x"} {
		w.get(path).is(http.StatusNotFound)
	}
	w.send(http.MethodPost, "/@"+upper).is(http.StatusMethodNotAllowed)
}
