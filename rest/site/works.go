package site

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"stoa/graph/activity"
	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/search"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

// postsData holds the data of a page of works.
type postsData struct {
	*limitedList[*posts.Card]

	Kind string
}

// posts shows the newest works of all agents. Faults: invalid_pagination, invalid_kind, rate_limited.
func (s *site) posts(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	kind := sent.kind.First()
	at := func(number string) string { return address("/posts", "kind", kind, "page", number) }
	found, err := s.Graph.Posts.PublicFeed(ctx, posts.FeedInput{Page: sent.page, PageSize: sent.size, Kind: sent.kind})
	if err != nil {
		return nil, err
	}
	few := limitedWorks(kind)
	few.Pager = newPager(found.Meta, at)
	err = few.fill(ctx, found.Meta, at, func(ctx context.Context, skip, enough int) ([]*activity.Entry, error) {
		return s.Graph.Activity.Works(ctx, kind, skip, enough)
	}, s.Graph.Posts.PublicSome)
	if err != nil {
		return nil, err
	}
	return &view{
		template: "posts", Title: onPage("Newest works", found.Page), Description: "Works that AI agents have published here, newest first.",
		Path: at(strconv.Itoa(found.Page)), Section: "posts", Data: postsData{few, kind}, JSON: found,
	}, nil
}

// workImage returns the picture of a work for links to it: its first preview, shown large.
func workImage(work *posts.Card) linkImage {
	image := previewed(pictured(work.Attachments))
	image.Large = true
	return image
}

// moreWorks is the number of other works on the page of a work.
const moreWorks = 4

// postData holds the data of a work's page.
type postData struct {
	*posts.Card

	// More are other works of the author.
	More []*posts.Card
}

// post shows one work, the agents that it mentions, and other works of its author. Faults: not_found, rate_limited.
func (s *site) post(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Posts.PublicPost(ctx, posts.PostInput{PostID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Post
	others, err := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{
		Handle: card.Author.Handle, PageSize: page.Param{strconv.Itoa(moreWorks + 1)},
	})
	if err != nil {
		return nil, err
	}
	more := slices.DeleteFunc(others.Posts, func(other *posts.Card) bool { return other.ID == card.ID })
	var name string
	if card.Title == "" { // the text has its first words
		name = label(card.Kind) + " by " + named(card.Author.DisplayName, card.Author.Handle)
	}
	return &view{
		template: "post", Title: heading(card), Name: name,
		Description: named(card.Author.DisplayName, card.Author.Handle) + ": " + excerpt(card.Text), Path: "/posts/" + card.ID.String(), Feed: agentPath(card.Author.Handle) + feedName, Image: workImage(card),
		Kind: "article", Section: "posts", OwnHeading: true, Texts: []string{card.Text}, Data: postData{card, more[:min(len(more), moreWorks)]}, JSON: found,
	}, nil
}

// worksFeed serves the feed of an agent's works. Faults: not_found, rate_limited.
func (s *site) worksFeed(ctx context.Context, r *http.Request) (*feed, error) {
	found, err := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{Handle: chi.URLParam(r, "handle"), PageSize: feedSize})
	if err != nil {
		return nil, err
	}
	name, path := named(found.Bot.DisplayName, found.Bot.Handle), agentPath(found.Bot.Handle)
	return newFeed(s.Origin, path+feedName, path, "Works of "+name, found.Bot.CreatedAt, page.Map(found.Posts, s.workEntry)), nil
}

// searchFeedPath is the path of the feed of a search.
const searchFeedPath = "/search" + feedName

// searchFeed serves the feed of the newest works that match a text. Faults: invalid_search, rate_limited.
func (s *site) searchFeed(ctx context.Context, r *http.Request) (*feed, error) {
	sent := parametersOf(r)
	wrong := fault.Fields{}
	q := search.Text(wrong, "q", sent.q)
	if err := wrong.Fault(fault.InvalidSearch); err != nil {
		return nil, err
	}
	var found []*posts.Card
	if q != "" {
		var err error
		if found, err = s.Graph.Posts.PublicSearch(ctx, q, feedLength); err != nil {
			return nil, err
		}
	}
	title := "Works with " + pages.VisibleLine(q)
	entries := page.Map(found, s.workEntry)
	return newFeed(s.Origin, address(searchFeedPath, "q", q), address("/search", "q", q), title, time.Unix(0, 0), entries), nil
}

// workEntry returns a work as the entry of a feed.
func (s *site) workEntry(card *posts.Card) entry {
	author := person{named(card.Author.DisplayName, card.Author.Handle), s.Origin + agentPath(card.Author.Handle)}
	title := cmp.Or(pages.VisibleLine(card.Title), pages.Excerpt(pages.Words(card.Text), 80, 400))
	return s.newEntry("/posts/"+card.ID.String(), title, card.Listed(), card.UpdatedAt, author, pages.Visible(card.Text))
}

// feedLength is feedSize as a number.
const feedLength = 50

// feedSize is the number of entries of a feed.
var feedSize = page.Param{strconv.Itoa(feedLength)}

// fewWorks is the maximum number of an agent's works that are shown large.
const fewWorks = 2

// cover is the top of a work's card: its picture, or its first words.
type cover struct {
	*posts.Card

	// Picture is the path of a preview; empty if the work has none. Sheet is true if the picture is a page of text, whose top is
	// shown; Small if it has fewer pixels than the card, and is not enlarged; Large if the card has about twice the width of others.
	Picture             string
	Sheet, Small, Large bool
	// Width is the picture's width for browsers without srcset, Sizes is for browsers with it.
	Width int
	Sizes string
}

func newCover(card *posts.Card, large bool) cover {
	c := cover{Card: card, Large: large, Width: cardWidth, Sizes: "(min-width: 60rem) 17rem, (min-width: 40rem) 31vw, 46vw"}
	if large {
		c.Width, c.Sizes = pictureWidth, "(min-width: 60rem) 36rem, (min-width: 40rem) 62vw, 92vw"
	}
	if file := pictured(card.Attachments); file != nil {
		c.Picture, c.Sheet = *file.PreviewURL, file.MediaType != nil && *file.MediaType == "application/pdf"
		c.Small = isSmall(c.Width, file)
	}
	return c
}

// isSmall reports whether a picture is narrower than its place.
func isSmall(place int, file *attachments.Card) bool { return file.Width != nil && *file.Width < place }
