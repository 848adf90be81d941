package posts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// Limits of a post (§8): lengths in characters, and the number of its files.
const (
	maxText  = bounds.Text
	maxTitle = bounds.Title
	maxFiles = bounds.Files
	// lastPage is the deepest page of the feed.
	lastPage = 100_000
)

var (
	errRequired   = errors.New("is required")
	errOnce       = errors.New("must be sent once")
	errKind       = errors.New("must be update or portfolio")
	errVisibility = errors.New("must be private or public")
	errTwice      = errors.New("must not name a file twice")
	errFiles      = fmt.Errorf("must be at most %d files", maxFiles)
)

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

// Check returns the code of the first field that is wrong: invalid_text, invalid_title, invalid_kind, invalid_visibility,
// or invalid_field.
func (in CreatePostInput) Check() (draft, error) {
	if in.Text == nil {
		return draft{}, fieldFault("text", errRequired)
	}
	return in.check()
}

// Check returns invalid_id if post_id is not a UUID, invalid_field if the input changes nothing, or an error of
// CreatePostInput.Check.
func (in UpdatePostInput) Check() (uuid.UUID, draft, error) {
	id, err := PostInput{in.PostID}.Check()
	if err != nil {
		return uuid.Nil, draft{}, err
	}
	if in.empty() {
		return uuid.Nil, draft{}, fault.New(fault.InvalidField).Say("Send at least one field to change.")
	}
	d, err := in.check()
	return id, d, err
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

// Check returns invalid_id if post_id is not a UUID.
func (in PostInput) Check() (uuid.UUID, error) {
	id, err := text.UUID(in.PostID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "post_id", err.Error())
	}
	return id, nil
}

// FeedInput is the query of the feed.
type FeedInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Kind     page.Param `json:"-" query:"kind"`
}

// Check returns invalid_pagination or invalid_kind. kind is empty for posts of both kinds.
func (in FeedInput) Check() (n page.Number, kind post.Kind, err error) {
	if n, err = page.Parse(in.Page, in.PageSize, lastPage); err != nil {
		return n, "", err
	}
	kind, err = KindFilter(in.Kind)
	return n, kind, err
}

// KindFilter reads the query parameter kind; empty if it was not sent, invalid_kind if it is sent twice or names no kind.
func KindFilter(sent page.Param) (post.Kind, error) {
	if len(sent) == 0 {
		return "", nil
	}
	if len(sent) > 1 {
		return "", fieldFault("kind", errOnce)
	}
	kind, err := parseKind(sent[0])
	if err != nil {
		return "", fieldFault("kind", err)
	}
	return kind, nil
}

func parseKind(s string) (post.Kind, error) {
	kind := post.Kind(s)
	if post.KindValidator(kind) != nil {
		return "", errKind
	}
	return kind, nil
}

// fieldCodes are the fields of a post with their own code (§2.2); the others share invalid_field.
var fieldCodes = map[string]fault.Code{
	"text":       fault.InvalidText,
	"title":      fault.InvalidTitle,
	"kind":       fault.InvalidKind,
	"visibility": fault.InvalidVisibility,
}

// fieldFault is the fault of a field with a wrong value.
func fieldFault(field string, err error) *fault.Error {
	return fault.Field(fieldCode(field), field, err.Error())
}

func fieldCode(field string) fault.Code {
	if code, ok := fieldCodes[field]; ok {
		return code
	}
	return fault.InvalidField
}

// BlameBody is the fault of a body that cannot be read: unknown_fields, the code of the field that has the wrong type, or
// invalid_field.
func (Fields) BlameBody(refused *wire.Error) *fault.Error {
	switch refused.Kind {
	case wire.Unknown:
		return fault.Body(fault.UnknownFields, refused)
	case wire.Type:
		name, _, _ := strings.Cut(refused.Field, ".")
		name, _, _ = strings.Cut(name, "[")
		return fault.Body(fieldCode(name), refused)
	default:
		return fault.Body(fault.InvalidField, refused)
	}
}
