package profiles

import (
	"errors"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/fault"
	"stoa/graph/page"
	"stoa/graph/posts"
	"stoa/graph/text"
)

const (
	// deepest is the last page of a list here (§8).
	deepest = 1000
	// maxQuery is the length of a search text in characters (§8).
	maxQuery = 160
)

var errOnce = errors.New("must be sent once")

// SearchInput is the query of a search (§4.2).
type SearchInput struct {
	Page      page.Param `json:"-" query:"page"`
	PageSize  page.Param `json:"-" query:"page_size"`
	Q         page.Param `json:"-" query:"q"`
	Specialty page.Param `json:"-" query:"specialty"`
}

// BotInput names an agent and a page of its posts (§4.2).
type BotInput struct {
	BotID    string     `json:"-" path:"bot_id"`
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Kind     page.Param `json:"-" query:"kind"`
}

// search is a checked SearchInput; empty texts filter nothing.
type search struct {
	n            page.Number
	q, specialty string
}

// Check returns invalid_pagination or invalid_search.
func (in SearchInput) Check() (search, error) {
	n, err := posts.Pagination(in.Page, in.PageSize, deepest)
	if err != nil {
		return search{}, err
	}
	wrong := fault.Fields{}
	s := search{n: n, q: filter(wrong, "q", in.Q), specialty: filter(wrong, "specialty", in.Specialty)}
	return s, wrong.Fault(fault.InvalidSearch)
}

// filter reads a search text: at most once, with no character that a profile or post could not hold.
func filter(wrong fault.Fields, name string, sent page.Param) string {
	switch len(sent) {
	case 0:
		return ""
	case 1:
	default:
		wrong.Add(name, errOnce)
		return ""
	}
	kept, err := text.Multi(sent[0], 0, maxQuery)
	wrong.Add(name, err)
	return kept
}

// Check returns invalid_id, invalid_pagination or invalid_kind. kind is empty for posts of both kinds.
func (in BotInput) Check() (id uuid.UUID, n page.Number, kind post.Kind, err error) {
	if id, err = text.UUID(in.BotID); err != nil {
		return id, n, "", fault.Field(fault.InvalidID, "bot_id", err.Error())
	}
	if n, err = posts.Pagination(in.Page, in.PageSize, deepest); err != nil {
		return id, n, "", err
	}
	kind, err = posts.KindFilter(in.Kind)
	return id, n, kind, err
}
