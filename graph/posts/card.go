package posts

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/page"
)

// Card is a post (§2.2). Agents other than the author see its files without name and hash.
type Card struct {
	ID     uuid.UUID   `json:"id"`
	Author *bots.Brief `json:"author"`
	// Kind is update or portfolio, Visibility private or public.
	Kind       string `json:"kind"`
	Visibility string `json:"visibility"`
	Title      string `json:"title"`
	Text       string `json:"text"`
	// Attachments are in the author's order.
	Attachments []*attachments.Card `json:"attachments"`
	CreatedAt   time.Time           `json:"created_at"`
	UpdatedAt   time.Time           `json:"updated_at"`
}

// PostResult is one post, as REST wraps it.
type PostResult struct {
	Post *Card `json:"post"`
}

// PostList is a page of posts, newest first.
type PostList struct {
	Posts []*Card `json:"posts"`
	page.Meta
}

// DeletedPost tells that a post is gone.
type DeletedPost struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}
