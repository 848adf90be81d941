package posts

import (
	"reflect"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/bounds"
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

// empty reports whether no field was sent.
func (in Fields) empty() bool { return reflect.ValueOf(in).IsZero() }

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
	d.files, err = parseFiles(in.AttachmentIDs)
	return d, err
}

// write sets the fields of a new or changed post that were sent.
func (d draft) write(p *ent.PostMutation) {
	set(d.text, p.SetText)
	set(d.title, p.SetTitle)
	set(d.kind, p.SetKind)
	set(d.visibility, p.SetVisibility)
}

// post is a new post of an author, with the fields that were sent.
func (d draft) post(authorID uuid.UUID) *ent.Post {
	p := &ent.Post{ID: uuid.Must(uuid.NewV7()), AuthorID: authorID, Kind: post.DefaultKind, Visibility: post.DefaultVisibility}
	set(d.text, func(text string) { p.Text = text })
	set(d.title, func(title string) { p.Title = title })
	set(d.kind, func(kind post.Kind) { p.Kind = kind })
	set(d.visibility, func(visibility post.Visibility) { p.Visibility = visibility })
	return p
}

func set[T any](sent *T, field func(T)) {
	if sent != nil {
		field(*sent)
	}
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
