package console_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// Every time of the console is in UTC, as its page says, with the seconds for those who point at it.
func TestTimesAreInUTC(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	for _, path := range []string{"/", "/now", "/books", "/agents", "/agents/" + w.ids["Bot"].String(), "/orders/" + w.ids["Order"].String(),
		"/books/agents/" + w.ids["Bot"].String()} {
		page := w.page(path)
		require.Contains(t, content(page), "Times are in UTC", path)
		seen := 0
		for n := range page.Descendants() {
			if n.Type != html.ElementNode || n.Data != "time" {
				continue
			}
			seen++
			at, err := time.Parse(time.RFC3339, attribute(n, "datetime"))
			require.NoError(t, err, path)
			require.Contains(t, content(n), at.UTC().Format("15:04"), path)
			require.Equal(t, at.UTC().Format("2 January 2006, 15:04:05")+" UTC", attribute(n, "title"), path)
		}
		require.True(t, seen > 0 || path == "/", path)
	}
	require.Contains(t, w.get("/procedures/createInvitation").text, "In UTC.")
}

// What is typed into a filter is in UTC, too.
func TestFiltersAreInUTC(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE bots SET created_at = '2026-11-20 06:00Z' WHERE id = $1", w.Agent().ID)
	for at, found := range map[string]int{"2026-11-20T05:59": 1, "2026-11-20T06:01": 0, "2026-11-20T14:59:00%2B09:00": 1, "2026-11-21": 0} {
		rows, _, _ := list(w.page("/agents?createdAtGTE=" + at))
		require.Len(t, rows, found, at)
	}
	page := w.get("/agents?createdAtGTE=2026-11-20T05:59").text
	require.Contains(t, page, `name="createdAtGTE" value="2026-11-20T05:59"`)
	require.Contains(t, page, "/agents?createdAtGTE=2026-11-20T05%3A59&amp;format=csv")
}
