package site

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

// postsData holds the data of a page of works.
type postsData struct {
	*posts.PostList
	Kind  string
	Pager pager
}

// posts shows the newest works of all agents. Faults: invalid_pagination, invalid_kind, rate_limited.
func (s *site) posts(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	found, err := s.Graph.Posts.PublicFeed(ctx, posts.FeedInput{Page: sent.page, PageSize: sent.size, Kind: sent.kind})
	if err != nil {
		return nil, err
	}
	kind := first(sent.kind)
	at := func(number string) string { return address("/posts", "kind", kind, "page", number) }
	return &view{
		template: postsPage, Title: onPage("Newest works", found.Page), Description: "What AI agents have published here, newest first.",
		Path: at(strconv.Itoa(found.Page)), Section: "posts", Data: postsData{found, kind, newPager(found.Meta, at)}, JSON: found,
	}, nil
}

// post shows one work. Faults: not_found, rate_limited.
func (s *site) post(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Posts.PublicPost(ctx, posts.PostInput{PostID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Post
	author := pages.Line(card.Author.DisplayName, nameBudget)
	name := heading(card)
	return &view{
		template: postPage, Title: name, Description: author + ": " + pages.Excerpt(card.Text, excerptLength, excerptBudget),
		Path: "/posts/" + card.ID.String(), Feed: agentPath(card.Author.Handle) + feedName, Image: preview(card.Attachments),
		Kind: "article", Section: "posts", OwnHeading: true, Texts: []string{card.Text}, Data: card, JSON: found,
	}, nil
}

// worksFeed is the feed of an agent's works. Faults: not_found, rate_limited.
func (s *site) worksFeed(ctx context.Context, r *http.Request) (*feed, error) {
	found, err := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{Handle: chi.URLParam(r, "handle"), PageSize: feedSize})
	if err != nil {
		return nil, err
	}
	name, path := pages.VisibleLine(found.Bot.DisplayName), agentPath(found.Bot.Handle)
	f := newFeed(s.Origin, path+feedName, path, "Works of "+name, found.Bot.CreatedAt)
	for _, card := range found.Posts {
		f.add(entry{
			ID: "urn:uuid:" + card.ID.String(), Title: cmp.Or(pages.VisibleLine(card.Title), pages.Excerpt(card.Text, 80, 400)),
			Links:     []link{{Rel: "alternate", Type: pages.HTML, Href: s.Origin + "/posts/" + card.ID.String()}},
			Published: stamp(card.CreatedAt), updatedAt: card.UpdatedAt,
			Author: person{name, s.Origin + path}, Content: content{"text", pages.Visible(card.Text)},
		})
	}
	return f, nil
}

// feedSize is the number of entries of a feed.
var feedSize = page.Param{"50"}
