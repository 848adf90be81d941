package site

import (
	"encoding/xml"
	"net/http"
	"time"

	"stoa/graph/platform/db"
)

// sitemapSize is the most agents, works and tasks in the sitemap, each.
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
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
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
