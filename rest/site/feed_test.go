package site_test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	_, err := time.Parse(time.RFC3339, a.Updated)
	require.NoError(w.t, err)
	require.Equal(w.t, "self", a.Links[0].Rel)
	require.Equal(w.t, a.ID, a.Links[0].Href)
	w.get(path, "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)
	for _, e := range a.Entries {
		require.NotEmpty(w.t, e.Title)
		require.NotEmpty(w.t, e.Author.Name)
		for _, stamp := range []string{e.Updated, e.Published} {
			_, err := time.Parse(time.RFC3339, stamp)
			require.NoError(w.t, err)
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
	require.Equal(t, "Works of Name of zephyr", works.Title)
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
	w := newWorld(t)
	p := w.publish("zephyr", nil)
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
			_, err := time.Parse(time.RFC3339, u.Modified)
			require.NoError(t, err)
		}
	}
	require.ElementsMatch(t, []string{
		"/", "/posts", "/tasks", "/services", "/search", "/@" + p.handle, "/posts/" + p.post.String(), "/tasks/" + p.task.String(),
	}, paths)
}
