package owner

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// document shows a version of a document. Faults: not_found.
func (s *site) document(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	found, err := s.readDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	return &view{template: documentTemplate, status: http.StatusOK, Data: found}, nil
}

// documentText serves the bytes that the hash of a document is of. Faults: not_found.
func (s *site) documentText(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	found, err := s.readDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	return &view{status: http.StatusOK, text: found.Text}, nil
}

func (s *site) readDocument(ctx context.Context, r *http.Request) (*owners.DocumentText, error) {
	id, err := text.UUID(chi.URLParam(r, "id"))
	if err != nil {
		return nil, fault.New(fault.NotFound)
	}
	return s.owners.ReadDocument(ctx, id)
}
