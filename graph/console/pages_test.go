package console_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/graph/console"
	"stoa/graph/graphtest"
)

// crawl follows all links, and calls look with each page.
func (w *world) crawl(look func(path string, answer response, root *html.Node)) {
	seen, next := map[string]bool{"/jobs": true}, []string{"/"}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		answer := w.get(path)
		if answer.StatusCode == http.StatusSeeOther {
			next = append(next, answer.Header.Get("Location"))
			continue
		}
		require.Equal(w.t, http.StatusOK, answer.StatusCode, "%s: %s", path, answer.text)
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			continue
		}
		root := w.parse(answer.text)
		look(path, answer, root)
		for n := range root.Descendants() {
			to := attribute(n, "href")
			if n.Data != "a" || to == "" || strings.HasPrefix(to, "#") {
				continue
			}
			parsed := graphtest.Got(answer.Request.URL.Parse(to))(w.t)
			if parsed.Host == answer.Request.URL.Host {
				parsed.Fragment = ""
				next = append(next, parsed.RequestURI())
			}
		}
	}
	for kind, id := range w.ids {
		require.True(w.t, slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(path string) bool { return strings.HasSuffix(path, "/"+id.String()) }), "no link leads to the page of a %s", kind)
	}
}

var inline = regexp.MustCompile(`<style|\son[a-z]+="|\sstyle="|<script|javascript:`)

// Every page is accessible, shows no secret, not even one that a form has made, and renders texts of agents safely. Its times are
// in UTC, as it states, with the seconds in a tooltip.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	for path, holds := range map[string]string{"/procedures/createInvitation": "", "/procedures/reissueToken?id=" + w.ids["Bot"].String(): "stoa_"} {
		_, after, found := strings.Cut(w.do(path, "reason", "because").text, `class="token"`)
		require.True(t, found)
		_, after, _ = strings.Cut(after, ">")
		secret, _, _ := strings.Cut(after, "<")
		require.Contains(t, secret, holds)
		require.Greater(t, len(secret), 15)
		w.secrets = append(w.secrets, secret)
	}
	count, times, lists := 0, 0, 0
	w.crawl(func(path string, answer response, root *html.Node) {
		count++
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), path)
		policy := answer.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotRegexp(t, inline, strings.NewReplacer("&lt;script", "", `<script src="/console.js" defer></script>`, "").Replace(answer.text), path)
		require.NotContains(t, answer.text, "\u202e", path)
		if !strings.HasPrefix(path, "/docs") {
			for _, secret := range w.secrets {
				require.NotContains(t, answer.text, secret, path)
			}
		}
		accessible(t, path, root)
		require.Contains(t, content(root), "Times are in UTC", path)
		columns := ""
		for n := range root.Descendants() {
			if attribute(n, "name") == "columns" {
				columns += attribute(n, "value") + ","
			}
			if n.Type == html.ElementNode && n.Data == "time" {
				times++
				at := graphtest.Got(time.Parse(time.RFC3339, attribute(n, "datetime")))(t, path)
				require.Contains(t, content(n), at.UTC().Format("15:04"), path)
				require.Equal(t, at.UTC().Format("2 January 2006, 15:04:05")+" UTC", attribute(n, "title"), path)
			}
		}
		if columns != "" && !strings.Contains(path, "?") {
			lists++
			all := w.get(path + "?columns=" + columns)
			require.Equal(t, http.StatusOK, all.StatusCode, "%s: %s", path, all.text)
			require.NotContains(t, all.text, "has no column", path)
			for _, secret := range w.secrets {
				require.NotContains(t, all.text, secret, path)
			}
		}
	})
	require.Len(t, console.Sections(), lists, "every column of every list can be shown")
	require.Greater(t, count, 100)
	require.Greater(t, times, 100)
	require.NotContains(t, w.log.String(), w.secrets[len(w.secrets)-1])
}

// accessible checks a page's markup for screen readers and keyboards: each field has a label, each id is there once, a required
// select begins without a choice, and a table begins with its caption. cmd/browse checks the rest with axe-core.
func accessible(t *testing.T, path string, root *html.Node) {
	t.Helper()
	ids, labels := map[string]int{}, map[string]bool{}
	for n := range root.Descendants() {
		ids[attribute(n, "id")]++
		labels[attribute(n, "for")] = true
	}
	delete(ids, "")
	delete(labels, "")
	for id, n := range ids {
		require.Equal(t, 1, n, "%s: the id %s", path, id)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		field := n.Data == "input" && attribute(n, "type") != "hidden" || n.Data == "select" || n.Data == "textarea"
		require.True(t, !field || labels[attribute(n, "id")] || attribute(n, "aria-label") != "", "%s: %s has no label", path, attribute(n, "name"))
		if n.Data == "select" && has(n, "required") {
			require.Empty(t, attribute(firstElement(n), "value"), "%s: %s begins with a choice", path, attribute(n, "name"))
		}
		if n.Data == "table" && !strings.HasPrefix(path, "/docs") {
			require.Equal(t, "caption", firstElement(n).Data, path)
		}
		for described := range strings.FieldsSeq(attribute(n, "aria-describedby")) {
			require.Equal(t, 1, ids[described], "%s: %s", path, described)
		}
	}
}

func firstElement(n *html.Node) *html.Node {
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return new(html.Node)
}

func TestUnknownPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	for path, status := range map[string]int{
		"/nothing": 404, "/agents/": 404, "/agents/x": 404, "/orders/" + agent.ID.String(): 404, "/procedures/nothing": 404, "/procedures/registerBot": 404,
		"/procedures/suspendBot": 404, "/procedures/suspendBot?id=x": 404, "/procedures/removePost?id=" + agent.ID.String(): 404, "/docs/nothing.md": 404,
		"/agents?after=nonsense": 400, "/agents?sort=NOTHING": 400, "/agents?state=nothing": 400, "/find?q=01a20004-0000-7000-8000-000000000000": 404,
		"/agents?nothing=x": 200, "/agents/" + strings.ToUpper(agent.ID.String()): 200,
	} {
		answer := w.get(path)
		require.Equal(t, status, answer.StatusCode, "%s: %s", path, answer.text)
		require.NotContains(t, answer.text, "panic")
	}
	require.Equal(t, "/agents/"+agent.ID.String(), w.get("/find?q="+agent.ID.String()).Header.Get("Location"))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		answer := w.send(method, "/agents", "", "Cookie", w.cookie, "Sec-Fetch-Site", "same-origin")
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
		require.Equal(t, "GET, HEAD", answer.Header.Get("Allow"))
	}
	head := w.send(http.MethodHead, "/agents", "", "Cookie", w.cookie)
	require.Equal(t, http.StatusOK, head.StatusCode)
	require.Empty(t, head.text)
	require.NotEmpty(t, head.Header.Get("Content-Length"))
	require.Empty(t, w.log.String())
}

// Paging forwards and backwards shows every row once, in any order of the list.
func TestPaging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec(`INSERT INTO invitations (id, created_at, code_hash, uses, note) SELECT gen_random_uuid(), stoa_now(), convert_to('hash' || n, 'UTF8'), 1, 'note ' || n FROM generate_series(1, 60) n`)
	for _, order := range []string{"", "CREATED_AT", "-CREATED_AT"} {
		var shown []string
		pages := map[string][]string{}
		path := "/invitations?sort=" + order
		before := ""
		for path != "" {
			rows, newer, older := list(w.page(path))
			pages[path] = rows
			shown = append(shown, rows...)
			if before != "" {
				back, _, _ := list(w.page(newer))
				require.Equal(t, pages[before], back, "the page before")
			}
			before, path = path, older
		}
		require.Len(t, shown, 60)
		slices.Sort(shown)
		require.Len(t, slices.Compact(shown), 60)
	}
}

// list reads the links of the rows of a list, and the pages beside it.
func list(root *html.Node) (rows []string, newer, older string) {
	for n := range root.Descendants() {
		switch {
		case n.Data == "th" && attribute(n, "scope") == "row":
			rows = append(rows, attribute(n.FirstChild, "href"))
		case attribute(n, "rel") == "prev":
			newer = attribute(n, "href")
		case attribute(n, "rel") == "next":
			older = attribute(n, "href")
		}
	}
	return rows, newer, older
}

// Filters and searches narrow a list. Times are in UTC, and stay in the address of the list's pages and exports.
func TestSearchAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	one := w.ids["Bot"].String()
	w.Exec("UPDATE bots SET created_at = '2026-10-31 06:00Z'")
	w.Exec("UPDATE bots SET handle = 'searched_one', suspended_at = stoa_now(), created_at = '2026-11-20 06:00Z' WHERE id = $1", one)
	for path, want := range map[string]int{
		"/agents": 2, "/agents?q=ARCHED_O": 1, "/agents?q=" + one: 1, "/agents?q=nobody": 0, "/agents?suspendedAtNotNil=true": 1, "/agents?suspendedAtNotNil=false": 1,
		"/agents?profilePublic=false": 0, "/agents?state=trash": 0, "/agents?state=active": 1, "/agents?state=active&q=searched": 0, "/agents?state=active&suspendedAtNotNil=true": 1, "/orders?q=searched": 1, "/orders?customerID=" + one: 1,
		"/orders?contractorID=" + one: 0, "/orders?q=" + one: 1, "/orders?updatedAtLT=2020-01-01T00:00": 0, "/orders?attention=stuck": 1, "/mails?attention=unsent": 1,
		"/mails?attention=lost": 0, "/webhooks?attention=broken": 1, "/messages?q=nothing": 0, "/messages?q=" + one: 1, "/audit": 0, "/posts?deletedAtIsNil=false": 0, "/posts?q=ALERT": 1,
		"/agents?createdAtGTE=2026-11-20T05:59": 1, "/agents?createdAtGTE=2026-11-20T06:01": 0, "/agents?createdAtGTE=2026-11-20T14:59:00%2B09:00": 1,
		"/agents?createdAtGTE=2026-11-21": 0, "/agents?createdAtLT=2026-11-05": 1, "/agents?createdAtGTE=2026-10-01&createdAtLT=2026-11-15": 1,
	} {
		rows, _, _ := list(w.page(path))
		require.Len(t, rows, want, path)
	}
	w.shows(w.get("/agents?createdAtGTE=2026-11-20T05:59").text, `name="createdAtGTE" type="datetime-local" value="2026-11-20T05:59"`,
		"/agents?createdAtGTE=2026-11-20T05%3A59&amp;format=csv")
	require.Contains(t, w.get("/agents?q=%3Cscript%3E").text, `value="&lt;script&gt;"`)
	require.Contains(t, w.get("/docs/nosuch.md").text, "There is no such page")
}
