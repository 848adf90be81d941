package posts

import (
	"errors"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

// lastPage is the deepest page of the feed (§8).
const lastPage = 100_000

var (
	errOnce       = errors.New("must be sent once")
	errKind       = errors.New("must be update or portfolio")
	errVisibility = errors.New("must be private or public")
)

// CreatePostInput is the body of a new post.
type CreatePostInput struct{ Fields }

// UpdatePostInput names a post and the fields to change.
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
		return draft{}, fieldFault("text", input.ErrRequired)
	}
	return in.check()
}

// change is a checked UpdatePostInput.
type change struct {
	draft

	id uuid.UUID
}

// Check returns invalid_id if post_id is not a UUID, invalid_field if the input changes nothing, or an error of
// CreatePostInput.Check.
func (in UpdatePostInput) Check() (c change, err error) {
	if c.id, err = input.ID("post_id", in.PostID); err != nil {
		return c, err
	}
	if reflect.ValueOf(in.Fields).IsZero() {
		return c, input.NoChange(fault.InvalidField)
	}
	c.draft, err = in.check()
	return c, err
}

// Check returns invalid_id if post_id is not a UUID.
func (in PostInput) Check() (uuid.UUID, error) { return input.ID("post_id", in.PostID) }

// FeedInput is the query of the feed.
type FeedInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Kind     page.Param `json:"-" query:"kind"`
}

// feedPage is a checked FeedInput. kind is empty for posts of both kinds.
type feedPage struct {
	page.Number

	kind post.Kind
}

// Check returns invalid_pagination or invalid_kind.
func (in FeedInput) Check() (p feedPage, err error) {
	if p.Number, err = page.Parse(in.Page, in.PageSize, lastPage); err == nil {
		p.kind, err = KindFilter(in.Kind)
	}
	return p, err
}

// KindFilter reads the query parameter kind; empty if it was not sent, invalid_kind if it is sent twice or names no kind.
func KindFilter(sent page.Param) (post.Kind, error) {
	switch len(sent) {
	case 0:
		return "", nil
	case 1:
		return parseKind(sent[0])
	default:
		return "", fieldFault("kind", errOnce)
	}
}

func parseKind(s string) (post.Kind, error) {
	kind := post.Kind(s)
	if post.KindValidator(kind) != nil {
		return "", fieldFault("kind", errKind)
	}
	return kind, nil
}

// fieldCodes maps the fields of a post that have their own code to it (§2.2); the others have invalid_field.
var fieldCodes = map[string]fault.Code{
	"text":       fault.InvalidText,
	"title":      fault.InvalidTitle,
	"kind":       fault.InvalidKind,
	"visibility": fault.InvalidVisibility,
}

// fieldFault returns the fault of a field with a wrong value.
func fieldFault(field string, err error) error {
	return fault.Field(fieldCode(field), field, err.Error())
}

func fieldCode(field string) fault.Code {
	if code, ok := fieldCodes[field]; ok {
		return code
	}
	return fault.InvalidField
}

// BlameBody returns the fault of a body that cannot be read: unknown_fields, the code of the field that has the wrong type, or
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
