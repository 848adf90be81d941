package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// chooseZone chooses a time zone as the form on every page does.
func (w *world) chooseZone(name, from string) {
	w.t.Helper()
	require.Contains(w.t, w.get(from).text, `<input type="hidden" name="next" value="`+strings.ReplaceAll(from, "&", "&amp;")+`">`)
	answer := w.post("/zone", url.Values{"zone": {name}, "next": {from}})
	require.Equal(w.t, http.StatusSeeOther, answer.StatusCode, answer.text)
	require.Equal(w.t, from, answer.Header.Get("Location"))
	cookie := answer.Cookies()[0]
	require.True(w.t, cookie.HttpOnly)
	require.Equal(w.t, http.SameSiteStrictMode, cookie.SameSite)
	w.cookie += "; " + cookie.Name + "=" + cookie.Value
}

// Every time of the console is in the chosen zone, which the page names, and in UTC for those who point at it.
func TestTimesInTheOperatorsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	kathmandu, err := time.LoadLocation("Asia/Kathmandu")
	require.NoError(t, err)
	require.Contains(t, w.get("/agents").text, "Times are in UTC.")
	w.chooseZone("Asia/Kathmandu", "/agents?state=active&q=")
	for _, path := range []string{"/", "/now", "/books", "/agents", "/agents/" + w.ids["Bot"].String(), "/orders/" + w.ids["Order"].String(),
		"/books/agents/" + w.ids["Bot"].String()} {
		page := w.page(path)
		require.Contains(t, content(page), "Times are in Asia/Kathmandu", path)
		seen := 0
		for n := range page.Descendants() {
			if n.Type != html.ElementNode || n.Data != "time" {
				continue
			}
			seen++
			at, err := time.Parse(time.RFC3339, attribute(n, "datetime"))
			require.NoError(t, err, path)
			require.Contains(t, content(n), at.In(kathmandu).Format("15:04"), path)
			require.Equal(t, at.UTC().Format("2 January 2006, 15:04:05")+" UTC", attribute(n, "title"), path)
		}
		require.True(t, seen > 0 || path == "/", path)
	}
	require.Contains(t, w.get("/procedures/createInvitation").text, "In the zone Asia/Kathmandu.")
}

// A zone that does not exist is refused, the way back leads nowhere else, and a cookie of nonsense means UTC.
func TestWrongZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"", "Local", "Mars/Olympus", "../../etc/passwd", strings.Repeat("Z", 70)} {
		require.Equal(t, http.StatusBadRequest, w.post("/zone", url.Values{"zone": {name}}).StatusCode, name)
	}
	for _, next := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "", "evil"} {
		require.Equal(t, "/", w.post("/zone", url.Values{"zone": {"UTC"}, "next": {next}}).Header.Get("Location"), next)
	}
	require.Equal(t, http.StatusForbidden, w.post("/zone", url.Values{"zone": {"UTC"}}, "Sec-Fetch-Site", "cross-site").StatusCode)
	w.cookie += "; stoa_zone=nonsense"
	require.Contains(t, w.get("/agents").text, "Times are in <b>UTC</b>")
}

// A filter's time is one of the chosen zone; the addresses that the page leads to say it in UTC, so they mean the same to everyone.
func TestFiltersInTheOperatorsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE bots SET created_at = '2026-11-20 06:00Z' WHERE id = $1", w.Agent().ID)
	w.chooseZone("Asia/Tokyo", "/agents") // nine hours before UTC
	rows := func(at string) int {
		found, _, _ := list(w.page("/agents?createdAtGTE=" + at))
		return len(found)
	}
	require.Equal(t, 1, rows("2026-11-20T14:59"))
	require.Zero(t, rows("2026-11-20T15:01"))
	require.Equal(t, 1, rows("2026-11-20T05:59:00Z"))
	page := w.get("/agents?createdAtGTE=2026-11-20T14:59").text
	require.Contains(t, page, `name="createdAtGTE" value="2026-11-20T14:59"`)
	require.Contains(t, page, "/agents?createdAtGTE=2026-11-20T05%3A59%3A00Z&amp;format=csv")
	require.Contains(t, w.get("/agents?createdAtGTE=2026-11-20T05:59:00Z").text, `name="createdAtGTE" value="2026-11-20T14:59"`)
}
