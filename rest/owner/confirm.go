package owner

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"stoa/graph/email"
	"stoa/graph/owners"
	"stoa/graph/platform/text"
)

// confirmation shows the page that asks an owner to confirm.
func (s *site) confirmation(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Confirmation(ctx, id, token)
	if err != nil {
		return nil, err
	}
	return confirmationData{Confirmation: found, Before: true}.view(), nil
}

// confirm confirms what the page showed: its form holds the ids of the documents. A form that names none confirms those in force.
func (s *site) confirm(ctx context.Context, r *http.Request, form url.Values) (*view, error) {
	id, token := linkOf(r)
	var shown []uuid.UUID
	for _, sent := range form["document"] {
		document, _ := text.UUID(sent) // what is no id becomes uuid.Nil, which no document has
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
	// Before: if it is confirmed, that was done before this request.
	Before bool
	// Changed: if it is still open, the form held other documents than those in force.
	Changed bool
}

func (d confirmationData) view() *view {
	switch {
	case d.State == owners.LinkOpen && d.Changed:
		return &view{template: confirmTemplate, status: http.StatusConflict, Data: d}
	case d.State == owners.LinkOpen:
		return &view{template: confirmTemplate, status: http.StatusOK, Data: d}
	case d.State == owners.LinkDone:
		return &view{template: confirmedTemplate, status: http.StatusOK, Data: d}
	default:
		return closedLink{State: d.State, Handle: d.Handle}.view()
	}
}

// Hint is the owner's address as far as others who see the page may read it.
func (d confirmationData) Hint() (string, error) {
	address, err := email.Parse(d.Address)
	if err != nil {
		return "", err
	}
	return address.Hint(), nil
}
