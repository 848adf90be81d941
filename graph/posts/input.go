package posts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// Limits of a post (§8): lengths in characters, and the number of its files.
const (
	maxText  = 8000
	maxTitle = 160
	maxFiles = 10
)

var (
	errRequired   = errors.New("is required")
	errVisibility = errors.New("must be private or public")
	errTwice      = errors.New("must not name a file twice")
	errFiles      = fmt.Errorf("must be at most %d files", maxFiles)
)

// Fields are what the author of a post decides (§2.2). A nil field was not sent.
type Fields struct {
	Text            *string  `json:"text"`
	Title           *string  `json:"title"`
	Kind            *string  `json:"kind"`
	Visibility      *string  `json:"visibility"`
	AttachmentIDs   []string `json:"attachment_ids"`
	RightsConfirmed *bool    `json:"rights_confirmed"`
}

// CreatePostInput is the body of a new post.
type CreatePostInput struct{ Fields }

// UpdatePostInput names a post and what to change of it.
type UpdatePostInput struct {
	PostID string `json:"-" path:"post_id"`
	Fields
}

// PostInput names a post.
type PostInput struct {
	PostID string `json:"-" path:"post_id"`
}

// draft is checked Fields.
type draft struct {
	text, title *string
	kind        *post.Kind
	visibility  *post.Visibility
	// files is nil where none were sent.
	files  []uuid.UUID
	rights *bool
}

// Check returns the code of the first field that is wrong: invalid_text, invalid_title, invalid_kind, invalid_visibility,
// or invalid_field.
func (in CreatePostInput) Check() (draft, error) {
	if in.Text == nil {
		return draft{}, blame("text", errRequired)
	}
	return in.check()
}

// Check returns invalid_id where the post is none, invalid_field where nothing is to be changed, and else what
// CreatePostInput.Check does.
func (in UpdatePostInput) Check() (uuid.UUID, draft, error) {
	id, err := PostInput{in.PostID}.Check()
	if err != nil {
		return uuid.Nil, draft{}, err
	}
	if in.Text == nil && in.Title == nil && in.Kind == nil && in.Visibility == nil && in.AttachmentIDs == nil && in.RightsConfirmed == nil {
		return uuid.Nil, draft{}, fault.New(fault.InvalidField).Say("Send at least one field to change.")
	}
	d, err := in.check()
	return id, d, err
}

func (in Fields) check() (draft, error) {
	d := draft{text: in.Text, rights: in.RightsConfirmed}
	if in.Text != nil {
		if _, err := text.Multi(*in.Text, 1, maxText); err != nil {
			return d, blame("text", err)
		}
	}
	if in.Title != nil {
		title, err := text.Line(*in.Title, 0, maxTitle)
		if err != nil {
			return d, blame("title", err)
		}
		d.title = &title
	}
	if in.Kind != nil {
		kind, err := parseKind(*in.Kind)
		if err != nil {
			return d, blame("kind", err)
		}
		d.kind = &kind
	}
	if in.Visibility != nil {
		visibility := post.Visibility(*in.Visibility)
		if post.VisibilityValidator(visibility) != nil {
			return d, blame("visibility", errVisibility)
		}
		d.visibility = &visibility
	}
	files, err := parseFiles(in.AttachmentIDs)
	if err != nil {
		return d, blame("attachment_ids", err)
	}
	d.files = files
	return d, nil
}

func parseFiles(sent []string) ([]uuid.UUID, error) {
	if sent == nil {
		return nil, nil
	}
	if len(sent) > maxFiles {
		return nil, errFiles
	}
	ids := make([]uuid.UUID, 0, len(sent))
	for _, s := range sent {
		id, err := text.UUID(s)
		if err != nil {
			return nil, err
		}
		if slices.Contains(ids, id) {
			return nil, errTwice
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Check returns invalid_id where the post is none.
func (in PostInput) Check() (uuid.UUID, error) {
	id, err := text.UUID(in.PostID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "post_id", err.Error())
	}
	return id, nil
}
