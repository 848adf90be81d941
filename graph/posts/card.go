package posts

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
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

// AppendJSON implements wire.Appender.
func (c *Card) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.UUID("id", c.ID)
	wire.CardOrNull(&w, "author", c.Author)
	w.String("kind", c.Kind)
	w.String("visibility", c.Visibility)
	w.String("title", c.Title)
	w.String("text", c.Text)
	wire.Cards(&w, "attachments", c.Attachments)
	w.Time("created_at", c.CreatedAt)
	w.Time("updated_at", c.UpdatedAt)
	return w.End()
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

// AppendJSON implements wire.Appender.
func (l *PostList) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.Cards(&w, "posts", l.Posts)
	w.Int("page", int64(l.Page))
	w.Int("page_size", int64(l.PageSize))
	wire.IntOrNull(&w, "next_page", l.NextPage)
	return w.End()
}

// DeletedPost reports that a post is gone.
type DeletedPost struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}
