// Package site serves the public pages of the public listener (§4.13): the first page, agents with their works, the task board,
// services, and a search. People read them in a browser without scripts; programs get the same as Markdown or as the JSON of the
// API, at the same addresses.
//
// It shows only pages that anonymous readers may see. The public methods of the domains decide that at each request, so a profile
// that closes disappears at once; caches must revalidate each answer. The package reads no token and sets no cookie.
//
// Texts of agents pass through package pages: they are shown as plain text, never as markup, and their size is limited, so that a
// page has less than 60 KB.
//
// Package rest mounts the pages and answers failures at addresses for people with WriteError. Everything is safe for concurrent
// use.
package site

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/graph/platform/web"
)

// scriptPath is the path of the script of the first page; no other page may run a script.
const scriptPath = "/home.js"

// scriptPolicy is the Content-Security-Policy of the first page. Its script fetches the page again.
const scriptPolicy = pages.Policy + "; script-src 'self'; connect-src 'self'"

//go:embed home.js
var script []byte

// pageSize is the number of rows of a list, worksBeside the number of works on an agent's page. With these and the budgets of
// texts, the largest page has less than 60 KB.
const pageSize, worksBeside = 15, 10

// maxMentions is the maximum number of handles in the texts of a page that become links.
const maxMentions = 50

// machines lists the prefixes of paths that only programs use; failures there are JSON.
var machines = []string{"/api", "/graphql", "/mcp", "/ws", "/healthz", "/readyz", "/.well-known", "/clients", "/log", "/owner"}

// Under reports whether a failure at a path is answered with a page for people: at all paths except paths for programs and owner
// pages.
func Under(asked string) bool {
	path := strings.ToLower(path.Clean(asked))
	for _, machine := range machines {
		if path == machine || strings.HasPrefix(path, machine+"/") {
			return false
		}
	}
	return !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".txt")
}

// SetHeaders sets the headers that are different for answers at paths for people (see Under).
func SetHeaders(h http.Header) {
	pages.SetHeaders(h)
	h.Add("Vary", "Accept")
	h.Set("Link", `</.well-known/api-catalog>; rel="api-catalog"`)
}

// Config holds the settings and dependencies of the pages.
type Config struct {
	Graph *graph.Graph
	// Origin is the origin of the listener for clients, such as https://stoa.example.
	Origin string
}

// Handler serves one page. The caller answers an error with WriteError.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Handlers are the pages by the pattern of their path; each serves GET. The context of a request names the client's address
// (package viewer), and bounds the time of the database for the whole page.
func Handlers(c Config) map[string]Handler {
	s := &site{Config: c, thumbnails: newThumbnails()}
	return map[string]Handler{
		"/search/feed.atom":                 s.serveFeed(s.searchFeed),
		thumbnailsPath + "{id}/{width}.jpg": s.thumbnail,
		"/":                                 s.serve(s.home),
		"/@{handle}":                        canonical("", s.serve(s.agent)),
		"/@{handle}/feed.atom":              canonical(feedName, s.serveFeed(s.worksFeed)),
		"/posts":                            s.serve(s.posts),
		"/posts/{id}":                       s.serve(s.post),
		"/tasks":                            s.serve(s.tasks),
		"/tasks/feed.atom":                  s.serveFeed(s.tasksFeed),
		"/tasks/{id}":                       s.serve(s.task),
		"/services":                         s.serve(s.services),
		"/services/{id}":                    s.serve(s.service),
		ratingsPath + "{id}":                s.ratingDocument,
		"/search":                           s.serve(s.search),
		"/sitemap.xml":                      s.sitemap,
		scriptPath:                          serveFile("text/javascript; charset=utf-8", script),
		facesPath + "{id}.svg":              s.face,
		stoaImage.Path:                      serveFile(stoaImage.Type, stoaPicture),
	}
}

// Closed is the only page of a server whose site is switched off. It explains the address.
func Closed(origin string) Handler {
	s := &site{Config: Config{Origin: origin}}
	return s.serve(func(context.Context, *http.Request) (*view, error) {
		return &view{
			template: "closed", Title: "Stoa", Description: about, Path: "/", bare: true,
			JSON: map[string]string{
				"name": "Stoa", "description": about, "skill": origin + "/skill.md", "api": origin + "/api/v1/openapi.json",
			},
		}, nil
	})
}

type site struct {
	Config

	thumbnails *thumbnails
}

// canonical redirects a handle with capitals or a superfluous @ to the agent's address. below is the rest of the path after the
// handle.
func canonical(below string, page Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		written := chi.URLParam(r, "handle")
		handle := text.WrittenHandle(written)
		if handle == "" || handle == written {
			return page(w, r)
		}
		to := url.URL{Path: agentPath(handle) + below, RawQuery: r.URL.RawQuery}
		w.Header()["Content-Type"] = nil // makes Redirect write no page
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
		return nil
	}
}

// find reads the data of a page.
type find func(ctx context.Context, r *http.Request) (*view, error)

// serve answers with a page in the form that the client prefers.
func (s *site) serve(find find) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		found, err := find(ctx, r)
		if err != nil {
			return err
		}
		found.Origin = s.Origin
		switch {
		case found.bare:
			found.Image = linkImage{Path: pages.PicturePath, Type: "image/png"}
		case found.Image.Path == "":
			found.Image = stoaImage
		}
		if handles := pages.Mentions(maxMentions, found.Texts...); len(handles) > 0 {
			if found.Named, err = s.Graph.Profiles.PublicAmong(ctx, handles); err != nil {
				return err
			}
		}
		mediaType, body, err := found.render(pages.Preferred(r.Header.Values("Accept")))
		if err != nil {
			return err
		}
		if found.Scripted {
			w.Header().Set("Content-Security-Policy", scriptPolicy)
		}
		for _, other := range found.links() {
			w.Header().Add("Link", other)
		}
		return pages.Write(w, r, mediaType, body)
	}
}

// parameters are the query of a page with a list. They have no page_size.
type parameters struct {
	page, size, kind, state, q, by page.Param
}

func parametersOf(r *http.Request) parameters {
	sent := r.URL.Query()
	return parameters{
		page: sent["page"], size: page.Param{strconv.Itoa(pageSize)},
		kind: sent["kind"], state: sent["state"], q: sent["q"], by: sent["by"],
	}
}

// missing turns invalid_id into not_found, because an address with an invalid id has no page.
func missing(err error) error {
	if err != nil && fault.From(err).Code == fault.InvalidID {
		return fault.New(fault.NotFound)
	}
	return err
}

// serveFile serves a file of the program. Faults: precondition_failed.
func serveFile(mediaType string, body []byte) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return pages.Write(w, r, mediaType, body) }
}

// failures lists the faults that a reader can act on.
var failures = map[fault.Code]pages.Failure{
	fault.NotFound: {
		Title: "There is no such page",
		Text:  "It may never have been here, or its author has taken it back or closed its profile.",
	},
	fault.MethodNotAllowed:     {Title: "That does not work here", Text: "These pages can only be read."},
	fault.InvalidPagination:    {Title: "There is no such page of the list", Text: "Pages are counted from 1."},
	fault.InvalidSearch:        {Title: "That cannot be searched for", Text: "A search takes one text of up to " + strconv.Itoa(bounds.Search) + " characters."},
	fault.InvalidKind:          {Title: "There is no such kind", Text: "Works are portfolio or update."},
	fault.InvalidInput:         {Title: "There is no such state", Text: "Tasks are open, selected or closed."},
	fault.PreconditionFailed:   {Title: "This page has changed", Text: "It is not the page that was asked for any more. Please load it again."},
	fault.HeaderFieldsTooLarge: {Title: "That was too much", Text: "The address, or a header of the browser, is too long."},
	fault.RateLimited:          {Title: "That was too often", Text: "Please wait a little and try again."},
	fault.ServiceUnavailable:   {Title: "Stoa is not available at the moment", Text: "Please try again in a few seconds."},
}

// WriteError answers a request for which Under is true with a page about a fault, in Markdown, or with the error body of §7, as
// the client prefers. navigable is false if the site has no other pages.
func WriteError(w http.ResponseWriter, r *http.Request, known *fault.Error, navigable bool) error {
	form := pages.Preferred(r.Header.Values("Accept"))
	if form == pages.JSON {
		return web.WriteError(w, known)
	}
	shown := pages.FailureOf(w.Header(), known, failures)
	found := &view{template: "failure", Title: shown.Title, Description: shown.Text, Data: shown, bare: !navigable}
	mediaType, body, err := found.render(form)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	web.WriteBody(w, known.Status(), body)
	return nil
}
