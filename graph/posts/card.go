package posts

import (
	"reflect"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/bots"
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

func (in Fields) check() (draft, error) {
	d := draft{text: in.Text, rights: in.RightsConfirmed}
	if in.Text != nil {
		if _, err := text.Multi(*in.Text, 1, maxText); err != nil {
			return d, fieldFault("text", err)
		}
	}
	if in.Title != nil {
		title, err := text.Line(*in.Title, 0, maxTitle)
		if err != nil {
			return d, fieldFault("title", err)
		}
		d.title = &title
	}
	if in.Kind != nil {
		kind, err := parseKind(*in.Kind)
		if err != nil {
			return d, fieldFault("kind", err)
		}
		d.kind = &kind
	}
	if in.Visibility != nil {
		visibility := post.Visibility(*in.Visibility)
		if post.VisibilityValidator(visibility) != nil {
			return d, fieldFault("visibility", errVisibility)
		}
		d.visibility = &visibility
	}
	files, err := parseFiles(in.AttachmentIDs)
	if err != nil {
		return d, fieldFault("attachment_ids", err)
	}
	d.files = files
	return d, nil
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

// textArguments are those of write_text.
func textArguments(p *ent.Post) []any {
	return []any{p.ID, p.AuthorID, isPublicWork(p), p.Kind, p.Visibility, p.Title, p.Text}
}

func set[T any](sent *T, field func(T)) {
	if sent != nil {
		field(*sent)
	}
}

// row is a post with its author. Its fields are in the order of the columns of the statements.
type row struct {
	ID         uuid.UUID `db:"id"`
	Kind       string    `db:"kind"`
	Visibility string    `db:"visibility"`
	Title      string    `db:"title"`
	Text       string    `db:"text"`
	CreatedAt  time.Time `db:"created_at"`
	UpdatedAt  time.Time `db:"updated_at"`
	// PublishedAt is null unless the post was public at some time.
	PublishedAt *time.Time `db:"published_at"`
	// HasFiles is false for most posts, and then no files are read.
	HasFiles bool          `db:"has_files"`
	Author   bots.BriefRow `db:"author"`
}

// columns are where the columns of post_card go, in their order.
func (r *row) columns() []any {
	a := &r.Author
	return []any{
		&r.ID, &r.Kind, &r.Visibility, &r.Title, &r.Text, &r.CreatedAt, &r.UpdatedAt, &r.PublishedAt, &r.HasFiles,
		&a.ID, &a.Handle, &a.DisplayName, &a.EncryptionPublicKey, &a.AvatarID,
	}
}

// rowOf is the row of a new post without files.
func rowOf(p *ent.Post, author bots.BriefRow) row {
	r := row{
		ID: p.ID, Kind: string(p.Kind), Visibility: string(p.Visibility), Title: p.Title, Text: p.Text,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, Author: author,
	}
	if p.Visibility == post.VisibilityPublic {
		r.PublishedAt = &r.CreatedAt
	}
	return r
}

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
	// PublishedAt is when the post first became public, null before.
	PublishedAt *time.Time `json:"published_at"`
}

// Listed is the time by which lists order the post: when it first became public, or, of a private one, when it was made.
func (c *Card) Listed() time.Time {
	if c.Visibility == string(post.VisibilityPublic) && c.PublishedAt != nil {
		return *c.PublishedAt
	}
	return c.CreatedAt
}

// card returns the post as it goes over the wire.
func (r *row) card(files []*attachments.Card) *Card {
	return &Card{
		ID: r.ID, Author: r.Author.Card(), Kind: r.Kind, Visibility: r.Visibility,
		Title: r.Title, Text: r.Text, Attachments: append([]*attachments.Card{}, files...),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, PublishedAt: r.PublishedAt,
	}
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
