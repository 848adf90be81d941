package site_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

func query(name, value string) string { return url.Values{name: {value}}.Encode() }

// atom is a feed as a reader understands it.
type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID        string `xml:"id"`
		Title     string `xml:"title"`
		Updated   string `xml:"updated"`
		Published string `xml:"published"`
		Author    struct {
			Name string `xml:"name"`
			URI  string `xml:"uri"`
		} `xml:"author"`
		Links []struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"link"`
		Content struct {
			Type string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"content"`
	} `xml:"entry"`
}

func (w *world) feed(path string) (a atom) {
	w.t.Helper()
	got := w.get(path).is(http.StatusOK)
	require.Equal(w.t, "application/atom+xml; charset=utf-8", got.header.Get("Content-Type"))
	require.NoError(w.t, xml.Unmarshal(got.raw, &a))
	require.Equal(w.t, "https://stoa.example"+path, a.ID)
	require.NotEmpty(w.t, a.Title)
	graphtest.OK(w.t)(time.Parse(time.RFC3339, a.Updated))
	require.Equal(w.t, "self", a.Links[0].Rel)
	require.Equal(w.t, a.ID, a.Links[0].Href)
	w.get(path, "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)
	for _, e := range a.Entries {
		require.NotEmpty(w.t, e.Title)
		require.True(w.t, strings.HasSuffix(e.Author.Name, " ("+e.Author.URI[len("https://stoa.example/"):]+")"), e.Author.Name)
		for _, stamp := range []string{e.Updated, e.Published} {
			graphtest.OK(w.t)(time.Parse(time.RFC3339, stamp))
		}
		require.LessOrEqual(w.t, e.Published, e.Updated)
		require.Equal(w.t, "text", e.Content.Type)
		w.get(e.Links[0].Href[len("https://stoa.example"):]).is(http.StatusOK)
		w.get(e.Author.URI[len("https://stoa.example"):]).is(http.StatusOK)
	}
	return a
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.feed("/tasks/feed.atom").Entries)
	agent := w.Agent()
	path := "/@" + w.handle(agent) + "/feed.atom"
	require.Empty(t, w.feed(path).Entries)
	p := w.publish("zephyr", nil)
	works := w.feed("/@" + p.handle + "/feed.atom")
	require.Equal(t, "Works of Name of zephyr (@"+p.handle+")", works.Title)
	require.Len(t, works.Entries, 1)
	require.Equal(t, "urn:uuid:"+p.post.String(), works.Entries[0].ID)
	require.Equal(t, "Title of zephyr", works.Entries[0].Title)
	require.Equal(t, "Text of zephyr", works.Entries[0].Content.Text)
	require.Equal(t, works.Updated, works.Entries[0].Updated)
	board := w.feed("/tasks/feed.atom")
	require.Len(t, board.Entries, 1)
	require.Contains(t, board.Entries[0].Content.Text, "12.50 test credits")
	require.Contains(t, board.Entries[0].Content.Text, "Wish of zephyr")
	untitled := w.Posted(agent, "Only a text.\n<b>&", "public")
	entries := w.feed(path).Entries
	require.Equal(t, "urn:uuid:"+untitled.ID.String(), entries[0].ID)
	require.Equal(t, "Only a text. <b>&", entries[0].Title)
	require.Contains(t, w.get("/@"+p.handle).links(), "/@"+p.handle+"/feed.atom")
	require.Contains(t, w.get("/tasks").links(), "/tasks/feed.atom")
}

func TestSitemap(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	got := w.get("/sitemap.xml").is(http.StatusOK)
	require.Equal(t, "application/xml; charset=utf-8", got.header.Get("Content-Type"))
	var set struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []struct {
			Location string `xml:"loc"`
			Modified string `xml:"lastmod"`
		} `xml:"url"`
	}
	require.NoError(t, xml.Unmarshal(got.raw, &set))
	var paths []string
	for _, u := range set.URLs {
		path := u.Location[len("https://stoa.example"):]
		w.get(path).is(http.StatusOK)
		paths = append(paths, path)
		if u.Modified != "" {
			graphtest.OK(t)(time.Parse(time.RFC3339, u.Modified))
		}
	}
	require.ElementsMatch(t, []string{
		"/", "/posts", "/tasks", "/services", "/search", "/@" + p.handle, "/posts/" + p.post.String(), "/tasks/" + p.task.String(),
	}, paths)
}

// entries returns the addresses below a folder that a page links to, each once.
func (a *answer) entries(folder string) (all []string) {
	for _, link := range a.links() {
		if rest, below := strings.CutPrefix(link, folder); below && !strings.ContainsAny(rest, "/?.") && !slices.Contains(all, link) {
			all = append(all, link)
		}
	}
	return all
}

// reachable returns the entries of a list on its pages and on the pages with the rest of an agent's entries.
func (w *world) reachable(path, folder string) (all map[string]bool) {
	w.t.Helper()
	all = map[string]bool{}
	for queue, known := []string{path}, map[string]bool{}; len(queue) > 0; queue = queue[1:] {
		if known[queue[0]] {
			continue
		}
		known[queue[0]] = true
		got := w.get(queue[0]).is(http.StatusOK)
		for _, entry := range got.entries(folder) {
			all[entry] = true
		}
		for _, n := range got.find("a") {
			if attribute(n, "rel") == "next" || attribute(n.Parent, "class") == "left" {
				queue = append(queue, attribute(n, "href"))
			}
		}
	}
	return all
}

// A list shows at most three entries of each agent, then entries of others; the rest stays reachable.
func TestAListShowsFewEntriesOfOneAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quiet, loud := w.Agent(), w.Agent()
	offer := func(by *graphtest.Agent, title string) string {
		return "/services/" + w.Serviced(by, title, "x").ID.String()
	}
	post := func(by *graphtest.Agent, title string) string {
		return "/posts/" + w.Posted(by, title, "public").ID.String()
	}
	ask := func(by *graphtest.Agent, title string) string {
		return "/tasks/" + w.Tasked(by, title, "x", 100).ID.String()
	}
	for folder, made := range map[string]func(*graphtest.Agent, string) string{"/posts": post, "/tasks": ask, "/services": offer} {
		mine := []string{made(quiet, "mine 1"), made(quiet, "mine 2")}
		for range 20 {
			made(loud, "loud")
		}
		shown := w.get(folder).is(http.StatusOK)
		require.Len(t, shown.entries(folder+"/"), 5, folder)
		require.Subset(t, shown.entries(folder+"/"), mine, folder)
		require.Contains(t, textOf(shown.root), "More by Agent @"+w.handle(loud), folder)
		require.Len(t, w.reachable(folder, folder+"/"), 22, folder)
		home := w.get("/").is(http.StatusOK)
		require.Subset(t, home.entries(folder+"/"), mine, folder)
		require.Contains(t, string(w.get(folder, "Accept", "text/markdown").raw), "More by", folder)
	}
	found := w.get("/search?q=loud").is(http.StatusOK)
	for _, folder := range []string{"/posts/", "/tasks/", "/services/"} {
		require.Len(t, found.entries(folder), 3, folder)
	}
	require.LessOrEqual(t, strings.Count(textOf(w.get("/").root), "@"+w.handle(loud)+" "), 3+3+3+3+1, "acts, works, tasks, services and the agent")
	w.Show(loud, false)
	board := w.get("/tasks").is(http.StatusOK)
	require.Contains(t, textOf(board.root), "More by Agent @"+w.handle(loud))
	require.NotContains(t, string(board.raw), `href="/@`+w.handle(loud), "a profile that is closed")
	w.get("/tasks?by=" + quiet.ID.String() + "x").is(http.StatusNotFound)
}

// If an agent adds up to 2,000 entries, earlier entries of others stay on the first page of a list and on the home page. After
// more entries, the next page has them.
func TestManyEntriesOfOneAgentHideNoOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quiet, loud := w.publish("quiet", nil), w.Agent()
	flood := func(many int, insert string) {
		w.Exec("INSERT INTO "+insert+" FROM generate_series(1, $2::int) AS n", loud.ID, many)
	}
	const works = `posts (id, created_at, updated_at, author_id, kind, visibility, text)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 s', stoa_now(), $1, 'update', 'public', 'loud'`
	flood(200, works)
	flood(200, `tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 s', stoa_now(), $1, 'loud', 'x', stoa_now() + interval '1 day', 1, 0, 1, 0`)
	flood(200, `services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 s', stoa_now(), $1, 'loud', 'x'`)
	for _, path := range []string{"/posts/" + quiet.post.String(), "/tasks/" + quiet.task.String(), "/services/" + quiet.service.String()} {
		folder := path[:strings.LastIndex(path, "/")]
		shown := w.get(folder).is(http.StatusOK)
		require.Len(t, shown.entries(folder+"/"), 4, folder)
		require.Contains(t, shown.entries(folder+"/"), path)
		require.Contains(t, textOf(shown.root), "More by Agent @"+w.handle(loud), folder)
		require.NotContains(t, string(shown.raw), "Next page", folder)
		require.Contains(t, w.get("/").is(http.StatusOK).entries(folder+"/"), path)
	}
	flood(2000, works)
	require.Len(t, w.get("/posts").is(http.StatusOK).entries("/posts/"), 3)
	require.Contains(t, w.reachable("/posts", "/posts/"), "/posts/"+quiet.post.String())
}

// In each list of the first page, agents that have closed an order as accepted come before all others.
func TestTheFirstPageBeginsWithProvenAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proven, customer := w.publish("proven", nil), w.Agent()
	w.rated(customer, proven.Agent, 5, "Good")
	for i := range 12 {
		w.publish(fmt.Sprint("new", i), nil)
	}
	page := w.get("/").is(http.StatusOK)
	page.inOrder(`class="strip"`, "@"+proven.handle, `id="works"`, "Title of proven", `id="tasks"`, "Task of proven", `id="services"`, "Service of proven", "★</span> 5.0 from 1 agent", `id="agents"`, "Name of proven")
	require.Equal(t, "/posts/"+proven.post.String(), page.entries("/posts/")[0])
	require.Equal(t, "/tasks/"+proven.task.String(), page.entries("/tasks/")[0])
	require.Equal(t, "/services/"+proven.service.String(), page.entries("/services/")[0])
	require.Contains(t, textOf(w.get("/services/"+proven.service.String()).root), "★ 5.0 from 1 agent")
	draft := w.Posted(proven.Agent, "An old draft", "private").ID.String()
	for range 4 {
		w.Posted(proven.Agent, "Newer", "public")
	}
	w.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE id = $1", draft)
	w.Exec("UPDATE posts SET visibility = 'public' WHERE id = $1", draft)
	for i := range 12 {
		w.publish(fmt.Sprint("late", i), nil)
	}
	w.get("/").is(http.StatusOK).inOrder(`id="works"`, "/posts/"+draft, `id="tasks"`)
	w.Exec(`WITH refunded AS (
			INSERT INTO orders (id, created_at, updated_at, author_id, state, outcome, title, description, deadline, amount_minor, fee_minor,
				total_minor, fee_bps, customer_id, contractor_id, closed_at)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), customer_id, 'closed', 'refunded', 'x', 'x', stoa_now(), 1, 0, 1, 0,
				customer_id, contractor_id, stoa_now()
			FROM orders, generate_series(1, 400) RETURNING *
		)
		INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at)
		SELECT ('ffffffff' || substr(id::text, 9))::uuid, 'order', id, customer_id, contractor_id, closed_at FROM refunded`)
	require.Equal(t, "/posts/"+draft, w.get("/").is(http.StatusOK).entries("/posts/")[0], "refunds displace nobody")
	w.Exec("UPDATE orders SET outcome = 'refunded'")
	require.NotEqual(t, "/posts/"+draft, w.get("/").is(http.StatusOK).entries("/posts/")[0])
}

// A finished task shows its outcome if both sides have rated each other and both profiles are shown.
func TestAFinishedTaskShowsItsOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	task := w.Tasked(customer, "A map", "x", 100)
	one := w.rated(customer, contractor, 5, "A fine map")
	w.Exec("UPDATE tasks SET state = 'selected', order_id = $1 WHERE id = $2", one.OrderID, task.ID)
	path := "/tasks/" + task.ID.String()
	require.NotContains(t, textOf(w.get(path).is(http.StatusOK).root), "A fine map", "one side alone")
	w.rate(contractor, one.OrderID, 4, "Paid at once")
	shown := w.get(path).is(http.StatusOK)
	shown.inOrder("Outcome", "The work was accepted and paid.", "rated as customer by", "Paid at once", "rated as contractor by", "A fine map")
	require.NotContains(t, string(shown.raw), one.OrderID.String())
	w.Exec("UPDATE orders SET outcome = 'refunded'")
	for _, form := range []string{"text/html", "text/markdown"} {
		shown := w.get(path, "Accept", form).is(http.StatusOK)
		shown.inOrder("The credits went back to the customer.", "A fine map")
		require.NotContains(t, string(shown.raw), "paid.", form)
	}
	w.Show(contractor, false)
	require.NotContains(t, textOf(w.get(path).is(http.StatusOK).root), "Outcome")
}
