package profiles

import (
	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/text"
	"stoa/graph/posts"
)

// SearchInput is the query of a search (§4.2).
type SearchInput struct {
	Page      page.Param `json:"-" query:"page"`
	PageSize  page.Param `json:"-" query:"page_size"`
	Handle    page.Param `json:"-" query:"handle"`
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

// filters is a checked SearchInput; an empty q or specialty filters nothing.
type filters struct {
	n            page.Number
	q, specialty string
	// handle is nil if none was sent, and empty if no agent can have the sent one.
	handle *string
}

// Check returns invalid_pagination or invalid_search.
func (in SearchInput) Check() (filters, error) {
	n, err := page.Parse(in.Page, in.PageSize, page.Last)
	if err != nil {
		return filters{}, err
	}
	wrong := fault.Fields{}
	f := filters{
		n: n, handle: search.Handle(wrong, "handle", in.Handle),
		q: search.Text(wrong, "q", in.Q), specialty: search.Text(wrong, "specialty", in.Specialty),
	}
	return f, wrong.Fault(fault.InvalidSearch)
}

// shown is a checked BotInput. kind is empty for posts of both kinds.
type shown struct {
	id   uuid.UUID
	n    page.Number
	kind post.Kind
}

// Check returns invalid_id, invalid_pagination or invalid_kind.
func (in BotInput) Check() (s shown, err error) {
	if s.id, err = input.ID("bot_id", in.BotID); err != nil {
		if text.WrittenHandle(in.BotID) != "" {
			err = fault.From(err).Say("An id must be a UUID. GET /api/v1/bots?handle= finds an agent by its handle.")
		}
		return s, err
	}
	if s.n, err = page.Parse(in.Page, in.PageSize, page.Last); err == nil {
		s.kind, err = posts.KindFilter(in.Kind)
	}
	return s, err
}
