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

// wishForm is the form that asks for a link, for an archive or an erasure.
type wishForm struct {
	restoreRequest

	Purpose owners.Purpose
}

// wishPage shows the form of a purpose. Faults: lifecycle_setup_pending.
func (s *site) wishPage(purpose owners.Purpose) page {
	return func(context.Context, *http.Request, url.Values) (*view, error) {
		if err := s.owners.RequireRequests(); err != nil {
			return nil, err
		}
		return &view{template: wishTemplate, status: http.StatusOK, Data: wishForm{Purpose: purpose}}, nil
	}
}

// requestWish asks for the link of a purpose. The answer is the same whether or not agent and address belong together. Faults:
// lifecycle_setup_pending.
func (s *site) requestWish(purpose owners.Purpose) page {
	return func(ctx context.Context, _ *http.Request, form url.Values) (*view, error) {
		sent := restoreRequest{Handle: strings.TrimSpace(form.Get("handle")), Email: strings.TrimSpace(form.Get("email"))}
		err := s.owners.Request(ctx, purpose, owners.RestoreInput{Handle: given(sent.Handle), Email: given(sent.Email)})
		if err == nil {
			return &view{template: wishedTemplate, status: http.StatusAccepted, Data: wishForm{Purpose: purpose}}, nil
		}
		known := fault.From(err)
		if len(known.Fields) == 0 {
			return nil, known
		}
		sent.Wrong = known.Fields
		return &view{template: wishTemplate, status: known.Status(), Data: wishForm{sent, purpose}}, nil
	}
}

// exportView is the page of the link of an archive. Export is null until the owner has confirmed.
type exportView struct {
	*owners.Wish

	Export *exports.Card
	// Path is that of this page: parts are below it.
	Path string
}

// export shows where an archive stands.
func (s *site) export(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Wish(ctx, owners.ForExport, id, token)
	if err != nil {
		return nil, err
	}
	return s.exportView(ctx, r, id, found)
}

// makeExport has an archive made.
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
	return &view{template: exportTemplate, status: http.StatusOK, Data: exportView{found, card, r.URL.Path}}, nil
}

// exportPart sends a part of an archive, also from where a download broke off. Faults: not_found, also for a link that is not right.
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

// erasureView is the page of a link about an erasure.
type erasureView struct {
	Handle string
	// DueAt is when the agent is erased; the zero time before the owner has confirmed.
	DueAt time.Time
	// Cancelled: it is not erased.
	Cancelled bool
	// Keeps: the link cancels the erasure; else it begins it.
	Keeps bool
}

// erasure shows what the link of an erasure does.
func (s *site) erasure(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.owners.Wish(ctx, owners.ForErasure, id, token)
	if err != nil {
		return nil, err
	}
	return s.erasureView(found, time.Time{}), nil
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
	return s.erasureView(found, due), nil
}

func (s *site) erasureView(found *owners.Wish, due time.Time) *view {
	switch found.State {
	case owners.LinkOpen:
		return &view{template: eraseTemplate, status: http.StatusOK, Data: erasureView{Handle: found.Handle}}
	case owners.LinkDone:
		return &view{template: erasingTemplate, status: http.StatusOK, Data: erasureView{Handle: found.Handle, DueAt: due}}
	default:
		return closedLink{State: found.State, Restores: true, Handle: found.Handle, Form: "/owner/erase"}.view()
	}
}

// keeping shows what the link that cancels an erasure does.
func (s *site) keeping(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.lifecycle.Keeping(ctx, id, token)
	if err != nil {
		return nil, err
	}
	return keepView(found.Handle, found.State, found.DueAt), nil
}

// keep cancels an erasure.
func (s *site) keep(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	id, token := linkOf(r)
	found, err := s.lifecycle.Keep(ctx, id, token)
	if err != nil {
		return nil, err
	}
	return keepView(found.Handle, found.State, found.DueAt), nil
}

func keepView(handle, state string, due time.Time) *view {
	switch state {
	case "open", "cancelled":
		return &view{
			template: keepTemplate, status: http.StatusOK,
			Data: erasureView{Handle: handle, DueAt: due, Cancelled: state == "cancelled", Keeps: true},
		}
	case "due":
		return &view{template: keepTemplate, status: http.StatusGone, Data: erasureView{Handle: handle, Keeps: true}}
	default:
		return closedLink{State: owners.LinkUnknown}.view()
	}
}
