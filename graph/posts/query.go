package posts

import (
	"errors"

	"stoa/ent/post"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// deepest is the last page of the feed (§8).
const deepest = 100_000

var (
	errOnce = errors.New("must be sent once")
	errKind = errors.New("must be update or portfolio")
)

// FeedInput is the query of the feed.
type FeedInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Kind     page.Param `json:"-" query:"kind"`
}

// Check returns invalid_pagination or invalid_kind. kind is empty for posts of both kinds.
func (in FeedInput) Check() (n page.Number, kind post.Kind, err error) {
	if n, err = Pagination(in.Page, in.PageSize, deepest); err != nil {
		return n, "", err
	}
	kind, err = KindFilter(in.Kind)
	return n, kind, err
}

// Pagination reads a numbered page, up to the page last; invalid_pagination where it is none.
func Pagination(sent, size page.Param, last int) (page.Number, error) {
	n, err := page.Parse(sent, size, last)
	if refused, ok := errors.AsType[*page.Error](err); ok {
		return n, fault.Field(fault.InvalidPagination, refused.Field, refused.Reason)
	}
	return n, err
}

// KindFilter reads the query parameter kind; empty where it was not sent, invalid_kind where it is sent twice or names no kind.
func KindFilter(sent page.Param) (post.Kind, error) {
	if len(sent) == 0 {
		return "", nil
	}
	if len(sent) > 1 {
		return "", blame("kind", errOnce)
	}
	kind, err := parseKind(sent[0])
	if err != nil {
		return "", blame("kind", err)
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
