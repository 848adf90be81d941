package owner

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/email"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/text"
)

// linkOf returns the id and the token in the path of a link. If the id is not a UUID, it returns the zero id, which no link has.
func linkOf(r *http.Request) (id uuid.UUID, token string) {
	id, err := text.UUID(chi.URLParam(r, "id"))
	if err != nil {
		return uuid.Nil, ""
	}
	return id, chi.URLParam(r, "token")
}

// linked returns a page for a link: find reads the link's subject or carries out its action, and show renders the result.
func linked[T any](find func(context.Context, uuid.UUID, string) (T, error), show func(T) *view) page {
	return func(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
		id, token := linkOf(r)
		found, err := find(ctx, id, token)
		if err != nil {
			return nil, err
		}
		return show(found), nil
	}
}

// closedStatus is the status of the page for a link that cannot be used.
var closedStatus = map[owners.LinkState]int{
	owners.LinkExpired:  http.StatusGone,
	owners.LinkReplaced: http.StatusGone,
	owners.LinkSpent:    http.StatusGone,
	owners.LinkRefused:  http.StatusForbidden,
	owners.LinkUnknown:  http.StatusNotFound,
}

// closedLink is a link that cannot be used, with the reason.
type closedLink struct {
	State owners.LinkState
	// Restores is true if the link is for a restore, an archive or an erasure; otherwise it is for a confirmation.
	Restores bool
	// Handle is the agent's; empty for an unknown link.
	Handle string
	// Form is the path of the form for a new link; empty for the form of a restore.
	Form string
}

func (l closedLink) view() *view {
	return &view{template: "closed", status: closedStatus[l.State], Data: l}
}

// confirm confirms the documents on the page, by the ids in the form; without ids, the documents in force.
func (s *site) confirm(ctx context.Context, r *http.Request, form url.Values) (*view, error) {
	id, token := linkOf(r)
	var shown []uuid.UUID
	for _, sent := range form["document"] {
		document, _ := text.UUID(sent) // an invalid id becomes uuid.Nil, which no document has
		shown = append(shown, document)
	}
	found, confirmed, err := s.owners.Confirm(ctx, id, token, shown)
	if err != nil {
		return nil, err
	}
	return confirmationData{Confirmation: found, Before: !confirmed, Changed: !confirmed}.view(), nil
}

// confirmationData holds the data of the confirmation pages.
type confirmationData struct {
	*owners.Confirmation
	// Before is true if there is a confirmation from before this request.
	Before bool
	// Changed is true if the form of an open link held other documents than those in force.
	Changed bool
}

func shownConfirmation(found *owners.Confirmation) *view {
	return confirmationData{Confirmation: found, Before: true}.view()
}

func (d confirmationData) view() *view {
	switch {
	case d.State == owners.LinkOpen && d.Changed:
		return &view{template: "confirm", status: http.StatusConflict, Data: d}
	case d.State == owners.LinkOpen:
		return &view{template: "confirm", status: http.StatusOK, Data: d}
	case d.State == owners.LinkDone:
		return &view{template: "confirmed", status: http.StatusOK, Data: d}
	default:
		return closedLink{State: d.State, Handle: d.Handle}.view()
	}
}

// Hint returns the part of the owner's address that other readers of the page may see.
func (d confirmationData) Hint() (string, error) {
	address, err := email.Parse(d.Address)
	if err != nil {
		return "", err
	}
	return address.Hint(), nil
}

// shownRestoration offers to restore the access, or shows the new token.
func shownRestoration(found *owners.Restoration) *view {
	switch found.State {
	case owners.LinkOpen, owners.LinkRepeat:
		return &view{template: "restore", status: http.StatusOK, Data: found}
	case owners.LinkDone:
		return &view{template: "restored", status: http.StatusOK, Data: found}
	default:
		return closedLink{State: found.State, Restores: true, Handle: found.Handle}.view()
	}
}

// shownCancelPage offers to cancel an erasure, or shows that it is cancelled.
func shownCancelPage(found *lifecycle.CancelPage) *view {
	switch found.State {
	case "open", "cancelled":
		return &view{template: "keep", status: http.StatusOK, Data: erasureView{
			Handle: found.Handle, DueAt: found.DueAt, Cancelled: found.State == "cancelled", Keeps: true,
		}}
	case "due":
		return &view{template: "keep", status: http.StatusGone, Data: erasureView{Handle: found.Handle, Keeps: true}}
	default:
		return closedLink{State: owners.LinkUnknown}.view()
	}
}
