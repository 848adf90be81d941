package owner

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"stoa/graph/owners"
	"stoa/graph/platform/fault"
)

// restoration shows what the link of a restore does.
func (s *site) restoration(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Restoration(ctx, id, token)
	if err != nil {
		return nil, err
	}
	return restorationView(found), nil
}

// restore restores the access and shows the new token.
func (s *site) restore(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Restore(ctx, id, token)
	if err != nil {
		return nil, err
	}
	return restorationView(found), nil
}

func restorationView(found *owners.Restoration) *view {
	switch found.State {
	case owners.LinkOpen, owners.LinkRepeat:
		return &view{template: restoreTemplate, status: http.StatusOK, Data: found}
	case owners.LinkDone:
		return &view{template: restoredTemplate, status: http.StatusOK, Data: found}
	default:
		return closedLink{State: found.State, Restores: true, Handle: found.Handle}.view()
	}
}

// restoreForm shows the form that asks for the link of a restore. Faults: lifecycle_setup_pending.
func (s *site) restoreForm(ctx context.Context, _ *http.Request, _ url.Values) (*view, error) {
	if err := s.owners.RequireRestore(ctx); err != nil {
		return nil, err
	}
	return &view{template: requestTemplate, status: http.StatusOK, Data: restoreRequest{}}, nil
}

// restoreRequest holds the data of the form that asks for a link.
type restoreRequest struct {
	Handle, Email string
	// Wrong is why a field is not valid, by its name.
	Wrong map[string]string
}

// requestRestore asks for the link of a restore. The answer is the same whether or not agent and address belong together. Faults:
// lifecycle_setup_pending.
func (s *site) requestRestore(ctx context.Context, _ *http.Request, form url.Values) (*view, error) {
	sent := restoreRequest{Handle: strings.TrimSpace(form.Get("handle")), Email: strings.TrimSpace(form.Get("email"))}
	_, err := s.owners.RequestRestore(ctx, owners.RestoreInput{Handle: given(sent.Handle), Email: given(sent.Email)})
	if err == nil {
		return &view{template: requestedTemplate, status: http.StatusOK}, nil
	}
	known := fault.From(err)
	if len(known.Fields) == 0 {
		return nil, known
	}
	sent.Wrong = known.Fields
	return &view{template: requestTemplate, status: known.Status(), Data: sent}, nil
}

// given returns nil for a field that was left empty.
func given(field string) *string {
	if field == "" {
		return nil
	}
	return &field
}
