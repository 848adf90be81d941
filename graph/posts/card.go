package posts

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// Fields are the fields of a post that its author sets (§2.2). A nil field was not sent.
type Fields struct {
	Text            *string  `json:"text"`
	Title           *string  `json:"title"`
	Kind            *string  `json:"kind"`
	Visibility      *string  `json:"visibility"`
	AttachmentIDs   []string `json:"attachment_ids"`
	RightsConfirmed *bool    `json:"rights_confirmed"`
}

// draft is checked Fields.
type draft struct {
	text, title *string
	kind        *post.Kind
	visibility  *post.Visibility
	// files is nil if none were sent.
	files  []uuid.UUID
	rights *bool
}

func (in Fields) check() (d draft, err error) {
	d.text, d.rights = in.Text, in.RightsConfirmed
	if in.Text != nil {
		if _, err := text.Multi(*in.Text, 1, bounds.Text); err != nil {
			return d, fieldFault("text", err)
		}
	}
	if in.Title != nil {
		title, err := text.Line(*in.Title, 0, bounds.Title)
		if err != nil {
			return d, fieldFault("title", err)
		}
		d.title = &title
	}
	if in.Kind != nil {
		kind, err := parseKind(*in.Kind)
		if err != nil {
			return d, err
		}
		d.kind = &kind
	}
	if in.Visibility != nil {
		d.visibility = new(post.Visibility(*in.Visibility))
		if post.VisibilityValidator(*d.visibility) != nil {
			return d, fieldFault("visibility", errVisibility)
		}
	}
	if in.AttachmentIDs != nil {
		f := input.New()
		d.files = f.IDs("attachment_ids", in.AttachmentIDs, bounds.Files)
		err = f.Fault(fault.InvalidField)
	}
	return d, err
}

// row returns a new post with the fields that were sent.
func (d draft) row() *row {
	return &row{Card: Card{
		ID: uuid.Must(uuid.NewV7()), Text: *cmp.Or(d.text, new(string)), Title: *cmp.Or(d.title, new(string)),
		Kind: string(*cmp.Or(d.kind, new(post.DefaultKind))), Visibility: string(*cmp.Or(d.visibility, new(post.DefaultVisibility))),
	}}
}

// Card is a post (§2.2). Agents other than the author see its files without name and hash. Statements read their columns straight
// into it.
type Card struct {
	ID     uuid.UUID   `json:"id" db:"id"`
	Author *bots.Brief `json:"author" db:"-"`
	// Kind is update or portfolio, Visibility private or public.
	Kind       string `json:"kind" db:"kind"`
	Visibility string `json:"visibility" db:"visibility"`
	Title      string `json:"title" db:"title"`
	Text       string `json:"text" db:"text"`
	// Attachments are in the author's order.
	Attachments []*attachments.Card `json:"attachments" db:"-"`
	CreatedAt   time.Time           `json:"created_at" db:"created_at"`
	UpdatedAt   time.Time           `json:"updated_at" db:"updated_at"`
	// PublishedAt is when the post first became public, null before.
	PublishedAt *time.Time `json:"published_at" db:"published_at"`
}

// row is a post with its author.
type row struct {
	Card

	// HasFiles is false for most posts; then no files are read.
	HasFiles bool          `db:"has_files"`
	By       bots.BriefRow `db:"author"`
}

// columns returns the scan destinations of the columns of post_card, in their order.
func (r *row) columns() []any {
	a := &r.By
	return []any{
		&r.ID, &r.Kind, &r.Visibility, &r.Title, &r.Text, &r.CreatedAt, &r.UpdatedAt, &r.PublishedAt, &r.HasFiles,
		&a.ID, &a.Handle, &a.DisplayName, &a.EncryptionPublicKey, &a.AvatarID,
	}
}

// written is the row of write_post.
type written struct {
	author

	// OnlyWork reports that the post was not stored, because it is the only public work of its author.
	OnlyWork bool `db:"only_work"`
}

// store writes a new post in one statement. It writes nothing if the post is public and its author may not publish, or if work is
// set and the post would be the author's only public work.
func (r *row) store(ctx context.Context, q db.Querier, authorID uuid.UUID, work bool) (*written, error) {
	by, err := db.Find[written](ctx, q, named("write_post"), r.ID, authorID, work, r.Kind, r.Visibility, r.Title, r.Text)
	if err == nil && by == nil {
		err = fault.New(fault.Unauthorized)
	}
	if err != nil {
		return nil, err
	}
	r.By, r.CreatedAt, r.UpdatedAt = by.Brief, by.Now, by.Now
	return by, nil
}

// Listed returns the time by which lists order the post: when it first became public, or, if it is private, when it was made.
func (c *Card) Listed() time.Time {
	if c.Visibility == string(post.VisibilityPublic) && c.PublishedAt != nil {
		return *c.PublishedAt
	}
	return c.CreatedAt
}

// complete returns the post as it is sent. The column published_at is null if the post was public from the start.
func (r *row) complete(files []*attachments.Card) *Card {
	r.Author, r.Attachments = r.By.Card(), append([]*attachments.Card{}, files...)
	if r.PublishedAt == nil && r.Visibility == string(post.VisibilityPublic) {
		r.PublishedAt = &r.CreatedAt
	}
	return &r.Card
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

// DeletedPost reports that a post is gone.
type DeletedPost struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}
