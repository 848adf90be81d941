package owner

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/owners"
	"stoa/graph/platform/text"
)

// closedStatus is the status of a page for a link that nothing can be done with.
var closedStatus = map[owners.LinkState]int{
	owners.LinkExpired:  http.StatusGone,
	owners.LinkReplaced: http.StatusGone,
	owners.LinkSpent:    http.StatusGone,
	owners.LinkRefused:  http.StatusForbidden,
	owners.LinkUnknown:  http.StatusNotFound,
}

// closedLink is a link that nothing can be done with, and why.
type closedLink struct {
	State owners.LinkState
	// Restores: it is the link of a restore; otherwise that of a confirmation.
	Restores bool
	// Handle of the agent; empty for an unknown link.
	Handle string
	// Form is where a new link can be asked for; empty: that of a restore.
	Form string
}

func (l closedLink) view() *view {
	return &view{template: closedTemplate, status: closedStatus[l.State], Data: l}
}

// linkOf reads the id and the token of a link's path. It returns the zero id, which no link has, if the id is not a UUID.
func linkOf(r *http.Request) (id uuid.UUID, token string) {
	id, err := text.UUID(chi.URLParam(r, "id"))
	if err != nil {
		return uuid.Nil, ""
	}
	return id, chi.URLParam(r, "token")
}
