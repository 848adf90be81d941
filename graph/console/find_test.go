package console_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// The search of every page leads to what it finds exactly, and shows the rest with handles beside names and with states.
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
