package owner

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/exports"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
)

// linkForm is a form that asks for a link by mail: for a restore, an archive or an erasure.
type linkForm struct {
	Handle, Email string
	// Wrong holds the error of each invalid field, by its name.
	Wrong map[string]string
	// Purpose is empty for a restore.
	Purpose owners.Purpose

	// template is the name of the page with the form; done is the page with the answer, which has status.
	template, done string
	status         int
}

var restoreForm = linkForm{template: "request", done: "requested", status: http.StatusOK}

func wishForm(purpose owners.Purpose) linkForm {
	return linkForm{Purpose: purpose, template: "wish", done: "wished", status: http.StatusAccepted}
}

// ask returns the handlers of a page with a form that asks for a link. The answer is the same whether or not agent and address
// belong together. Faults: lifecycle_setup_pending.
func (s *site) ask(
	form linkForm, require func(context.Context) error, request func(context.Context, owners.RestoreInput) error,
) map[string]Handler {
	return s.both(func(ctx context.Context, _ *http.Request, _ url.Values) (*view, error) {
		if err := require(ctx); err != nil {
			return nil, err
		}
		return &view{template: form.template, status: http.StatusOK, Data: form}, nil
	}, func(ctx context.Context, _ *http.Request, values url.Values) (*view, error) {
		sent := form
		sent.Handle, sent.Email = strings.TrimSpace(values.Get("handle")), strings.TrimSpace(values.Get("email"))
		err := request(ctx, owners.RestoreInput{Handle: given(sent.Handle), Email: given(sent.Email)})
		if err == nil {
			return &view{template: form.done, status: form.status, Data: form}, nil
		}
		known := fault.From(err)
		if len(known.Fields) == 0 {
			return nil, known
		}
		sent.Wrong = known.Fields
		return &view{template: form.template, status: known.Status(), Data: sent}, nil
	})
}

// given returns nil for an empty field.
func given(field string) *string {
	if field == "" {
		return nil
	}
	return &field
}

func (s *site) requestRestore(ctx context.Context, in owners.RestoreInput) error {
	_, err := s.owners.RequestRestore(ctx, in)
	return err
}

func (s *site) requestWish(purpose owners.Purpose) func(context.Context, owners.RestoreInput) error {
	return func(ctx context.Context, in owners.RestoreInput) error { return s.owners.Request(ctx, purpose, in) }
}

func (s *site) requireRequests(context.Context) error { return s.owners.RequireRequests() }

// wish returns the method that reads the request behind a link with this purpose.
func (s *site) wish(purpose owners.Purpose) func(context.Context, uuid.UUID, string) (*owners.Wish, error) {
	return func(ctx context.Context, id uuid.UUID, token string) (*owners.Wish, error) {
		return s.owners.Wish(ctx, purpose, id, token)
	}
}

// exportView holds the data of the page for an archive link. Export is null until the owner has confirmed.
type exportView struct {
	*owners.Wish

	Export *exports.Card
	// Path is the path of this page; the parts are below it.
	Path string
}

// export shows the state of an archive.
func (s *site) export(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Wish(ctx, owners.ForExport, id, token)
	if err != nil {
		return nil, err
	}
	return s.exportView(ctx, r, id, found)
}

// makeExport starts an archive.
func (s *site) makeExport(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Grant(ctx, owners.ForExport, id, token, func(ctx context.Context, botID uuid.UUID) error {
		return s.exports.CreateForOwner(ctx, botID, id)
	})
	if err != nil {
		return nil, err
	}
	return s.exportView(ctx, r, id, found)
}

func (s *site) exportView(ctx context.Context, r *http.Request, id uuid.UUID, found *owners.Wish) (*view, error) {
	if found.State != owners.LinkOpen && found.State != owners.LinkDone {
		return closedLink{State: found.State, Restores: true, Handle: found.Handle, Form: "/owner/export"}.view(), nil
	}
	card, err := s.exports.OwnerExport(ctx, id)
	if err != nil {
		return nil, err
	}
	return &view{template: "export", status: http.StatusOK, Data: exportView{found, card, r.URL.Path}}, nil
}

// exportPart sends a part of an archive; a client can resume a download. Faults: not_found, also for a wrong link.
func (s *site) exportPart(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Wish(ctx, owners.ForExport, id, token)
	if err != nil {
		return nil, err
	}
	if found.State != owners.LinkDone {
		return nil, fault.New(fault.NotFound)
	}
	file, err := s.exports.OwnerPart(ctx, id, chi.URLParam(r, "n"))
	if err != nil {
		return nil, fault.New(fault.NotFound)
	}
	return &view{file: file, at: time.Unix(id.Time().UnixTime())}, nil
}

// erasureView holds the data of the pages about an erasure.
type erasureView struct {
	Handle string
	// DueAt is the time of the erasure; zero before the owner has confirmed.
	DueAt time.Time
	// Cancelled is true if the agent is not erased.
	Cancelled bool
	// Keeps is true if the link cancels the erasure; otherwise the link begins it.
	Keeps bool
}

// erase begins an erasure.
func (s *site) erase(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	var due time.Time
	found, err := s.owners.Grant(ctx, owners.ForErasure, id, token, func(ctx context.Context, botID uuid.UUID) (err error) {
		due, err = s.lifecycle.EraseForOwner(ctx, botID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return shownErasureDue(found, due), nil
}

// shownErasure shows the page of an erasure link.
func shownErasure(found *owners.Wish) *view { return shownErasureDue(found, time.Time{}) }

func shownErasureDue(found *owners.Wish, due time.Time) *view {
	switch found.State {
	case owners.LinkOpen:
		return &view{template: "erase", status: http.StatusOK, Data: erasureView{Handle: found.Handle}}
	case owners.LinkDone:
		return &view{template: "erasing", status: http.StatusOK, Data: erasureView{Handle: found.Handle, DueAt: due}}
	default:
		return closedLink{State: found.State, Restores: true, Handle: found.Handle, Form: "/owner/erase"}.view()
	}
}
