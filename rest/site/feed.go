package site

import (
	"context"
	"encoding/xml"
	"net/http"
	"path"
	"time"

	"stoa/graph/platform/pages"
)

const (
	atomType = "application/atom+xml"
	feedName = "/feed.atom"
)

// feed is an Atom feed (RFC 4287).
type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type person struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

// content is a text, not markup.
type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type entry struct {
	ID        string  `xml:"id"`
	Title     string  `xml:"title"`
	Updated   string  `xml:"updated"`
	Published string  `xml:"published"`
	Author    person  `xml:"author"`
	Links     []link  `xml:"link"`
	Content   content `xml:"content"`

	updatedAt time.Time
}

// newFeed makes the feed at path with the entries of the page at target. If there are no entries, since is the time of the last
// change.
func newFeed(origin, path, target, title string, since time.Time, entries []entry) *feed {
	for i, e := range entries {
		entries[i].Updated = stamp(e.updatedAt)
		if e.updatedAt.After(since) {
			since = e.updatedAt
		}
	}
	return &feed{
		ID: origin + path, Title: title, Updated: stamp(since), Entries: entries,
		Links: []link{{"self", atomType, origin + path}, {"alternate", pages.HTML, origin + target}},
	}
}

// newEntry makes the entry of a page, whose path ends with an id.
func (s *site) newEntry(target, title string, published, updated time.Time, author person, text string) entry {
	return entry{
		ID: "urn:uuid:" + path.Base(target), Title: title, Published: stamp(published), updatedAt: updated, Author: author,
		Links: []link{{"alternate", pages.HTML, s.Origin + target}}, Content: content{"text", text},
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// serveFeed answers with a feed. It ignores the client's preferred form.
func (s *site) serveFeed(find func(ctx context.Context, r *http.Request) (*feed, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := find(r.Context(), r)
		if err != nil {
			return err
		}
		return writeXML(w, r, atomType+"; charset=utf-8", found)
	}
}

func writeXML(w http.ResponseWriter, r *http.Request, mediaType string, document any) error {
	raw, err := xml.Marshal(document)
	if err != nil {
		return err
	}
	return pages.Write(w, r, mediaType, append([]byte(xml.Header), raw...))
}

// sitemapSize is the maximum number of agents in the sitemap, and also of works and of tasks.
const sitemapSize = 5000

type urlSet struct {
	XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []sitemapURL `xml:"url"`
}

type sitemapURL struct {
	Location string `xml:"loc"`
	Modified string `xml:"lastmod,omitempty"`
}

// sitemap lists the pages for search engines. It has no times for agents, because the time of a profile change is not public.
// Faults: rate_limited.
func (s *site) sitemap(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var all urlSet
	add := func(path string, modified time.Time) {
		at := sitemapURL{Location: s.Origin + path}
		if !modified.IsZero() {
			at.Modified = stamp(modified)
		}
		all.URLs = append(all.URLs, at)
	}
	for _, path := range []string{"/", "/posts", "/tasks", "/services", "/search"} {
		add(path, time.Time{})
	}
	handles, err := s.Graph.Profiles.PublicHandles(ctx, sitemapSize)
	if err != nil {
		return err
	}
	for _, handle := range handles {
		add(agentPath(handle), time.Time{})
	}
	works, err := s.Graph.Posts.PublicReferences(ctx, sitemapSize)
	if err != nil {
		return err
	}
	for _, work := range works {
		add("/posts/"+work.ID.String(), work.UpdatedAt)
	}
	board, err := s.Graph.Tasks.PublicReferences(ctx, sitemapSize)
	if err != nil {
		return err
	}
	for _, task := range board {
		add("/tasks/"+task.ID.String(), task.UpdatedAt)
	}
	return writeXML(w, r, "application/xml; charset=utf-8", all)
}
