package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// heads are the headings of the columns of a list.
func heads(root *html.Node) (all []string) {
	for n := range root.Descendants() {
		if n.Data == "th" && attribute(n, "scope") == "col" {
			all = append(all, content(n))
		}
	}
	return all
}

// The address of a list chooses its columns; its pages, its filters and its exports keep them.
func TestColumnsOfAList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'Service ' || n, 'text' FROM generate_series(1, 40) n`, agent.ID)
	require.Equal(t, []string{"Title", "Agent", "Created", "Deleted"}, heads(w.page("/services")))
	page := w.page("/services?columns=updatedAt,bot&q=Service")
	require.Equal(t, []string{"Title", "Agent", "Updated"}, heads(page))
	_, _, older := list(page)
	require.Contains(t, older, "columns=bot%2CupdatedAt")
	require.Equal(t, []string{"Title", "Agent", "Updated"}, heads(w.page(older)))
	text := w.get("/services?columns=updatedAt,bot&q=Service").text
	require.Contains(t, text, `<input id="c-updatedAt" name="columns" type="checkbox" value="updatedAt" checked>`)
	require.Contains(t, text, `<input id="c-createdAt" name="columns" type="checkbox" value="createdAt">`)
	require.Contains(t, text, `<a href="/services?columns=bot%2CupdatedAt">Show all</a>`)

	// The form sends each box as a parameter; the redirect's address has one parameter.
	sent := w.get("/services?q=&columns=bot&columns=updatedAt&sort=CREATED_AT")
	require.Equal(t, http.StatusSeeOther, sent.StatusCode)
	require.Equal(t, "/services?columns=bot%2CupdatedAt&sort=CREATED_AT", sent.Header.Get("Location"))
	usual := w.get("/services?q=&columns=bot&columns=createdAt&columns=deletedAt")
	require.Equal(t, "/services", usual.Header.Get("Location"))

	saved, _, _ := strings.Cut(w.get("/services?format=csv&columns=bot,updatedAt").text, "\n")
	require.Equal(t, "id,title,bot,updatedAt", saved)

	unknown := w.get("/services?columns=nothing,%3Cb%3E,bot,description%20")
	require.Contains(t, unknown.text, "This list has no column <bdi>nothing</bdi>, <bdi>&lt;b&gt;</bdi>")
	require.Equal(t, []string{"Title", "Agent"}, heads(w.parse(unknown.text)))
	accessible(t, "/services", w.parse(unknown.text))
	require.Equal(t, []string{"Title", "Agent", "Created", "Deleted"}, heads(w.page("/services?columns=nothing")))
}

// Every page's search redirects to an exact hit, and shows other hits with handles, names and states.
func TestFindOnEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	one := w.ids["Bot"]
	w.Exec("UPDATE bots SET handle = 'pia', display_name = 'Pia of the tides', suspended_at = stoa_now() WHERE id = $1", one)
	w.Exec("UPDATE tasks SET title = 'A table of tides', removed_at = stoa_now()")
	order := w.ids["Order"].String()
	for q, path := range map[string]string{
		"@Pia": "/agents/" + one.String(), one.String(): "/agents/" + one.String(), order[len(order)-8:]: "/orders/" + order,
		"A table of tides": "/tasks/" + w.ids["Task"].String(),
	} {
		answer := w.get("/find?q=" + url.QueryEscape(q))
		require.Equal(t, http.StatusSeeOther, answer.StatusCode, "%s: %s", q, answer.text)
		require.Equal(t, path, answer.Header.Get("Location"), q)
	}
	page := w.get("/find?q=tides")
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.text, `<bdi>Pia of the tides</bdi></a> <span class="aside">@pia</span> <span class="state">suspended</span>`)
	require.Contains(t, page.text, `<bdi>A table of tides</bdi></a> <span class="aside">@pia</span> <span class="state">removed</span>`)
	require.Contains(t, page.text, `name="q" type="search" value="tides"`)
	accessible(t, "/find", w.parse(page.text))
	require.Contains(t, w.get("/find?q=%3Cb%3Enothing").text, "Nothing fits “<bdi>&lt;b&gt;nothing</bdi>”.")
	require.Equal(t, http.StatusNotFound, w.get("/find?q=01a20004-0000-7000-8000-000000000000").StatusCode)
}

// The audit log is searched by the words that it shows for acts, and filtered by a choice of all acts.
func TestActsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, act := range []string{"moderateBot", "exportList", "jobs.pauseQueue"} {
		w.Exec(`INSERT INTO audit_entries (id, created_at, operator, procedure, target, reason, details)
			VALUES (gen_random_uuid(), stoa_now(), 'Ada', $1::text, '', $1::text || ' it is', '{}')`, act)
	}
	for path, act := range map[string]string{
		"?q=moderate+Agent": "moderateBot", "?q=EXPORT+list": "exportList", "?q=pause+queue": "jobs.pauseQueue",
		"?procedure=moderateBot": "moderateBot", "?procedure=exportList": "exportList", "?procedure=jobs.pauseQueue": "jobs.pauseQueue",
	} {
		page := w.get("/audit" + path).text
		require.Equal(t, 1, strings.Count(page, " it is"), path)
		w.shows(page, act+" it is", `<option value="`+act+`"`)
	}
}
