// Package owner serves the pages for the owners of agents, under /owner/: documents, confirming an agent, restoring access
// (§2.4), archives and erasures (§12.6, §12.7).
//
// It decides nothing: each page calls methods of the domains and shows the result in HTML, with one layout, one stylesheet and no
// script. A GET changes nothing, because mail scanners open links before people do; only the POST of a page's form acts. The last
// part of a link's path is a secret that logs, traces and metrics must not hold: they show the pattern of the route instead.
//
// Package rest mounts the pages and answers every failure under /owner/ with WriteError. Everything is safe for concurrent use.
package owner

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/exports"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/web"
)

const prefix = "/owner/"

// maxForm is the size of a form in bytes.
const maxForm = 8 << 10

// Under reports whether a path belongs to the owner pages, existing or not.
func Under(path string) bool { return strings.HasPrefix(path, prefix) }

// SetHeaders sets the headers that are different for answers under /owner/.
func SetHeaders(h http.Header) {
	pages.SetHeaders(h)
	h.Set("X-Robots-Tag", "noindex")
}

// Handler serves one page. The caller answers an error with WriteError.
type Handler func(w http.ResponseWriter, r *http.Request) error

// SendFile answers with the whole file, with ranges, or with 304. at is the file's time. On an error it has sent nothing.
type SendFile func(w http.ResponseWriter, r *http.Request, file *attachments.File, at time.Time) error

// Handlers returns the pages by path pattern and method. The context of a request must hold the client's address (package
// viewer).
func Handlers(o *owners.API, e *exports.API, l *lifecycle.API, send SendFile) map[string]map[string]Handler {
	s := &site{o, e, l, send}
	return map[string]map[string]Handler{
		prefix + "confirm/{id}/{token}": s.both(linked(o.Confirmation, shownConfirmation), s.confirm),
		prefix + "restore":              s.ask(restoreForm, o.RequireRestore, s.requestRestore),
		prefix + "restore/{id}/{token}": s.both(linked(o.Restoration, shownRestoration), linked(o.Restore, shownRestoration)),
		prefix + "export":               s.ask(wishForm(owners.ForExport), s.requireRequests, s.requestWish(owners.ForExport)),
		prefix + "export/{id}/{token}":  s.both(s.export, s.makeExport),

		prefix + "export/{id}/{token}/parts/{n}": {http.MethodGet: s.serve(s.exportPart)},

		prefix + "erase":              s.ask(wishForm(owners.ForErasure), s.requireRequests, s.requestWish(owners.ForErasure)),
		prefix + "erase/{id}/{token}": s.both(linked(s.wish(owners.ForErasure), shownErasure), s.erase),
		prefix + "keep/{id}/{token}":  s.both(linked(l.CancelPage, shownCancelPage), linked(l.CancelByLink, shownCancelPage)),
		prefix + "documents/{id}":     {http.MethodGet: s.serve(linked(s.readDocument, shownDocument))},
		prefix + "documents/{id}.txt": {http.MethodGet: s.serve(linked(s.readDocument, shownText))},
	}
}

// both returns the two handlers of a page with a form: GET shows the form, POST carries out its action.
func (s *site) both(show, do page) map[string]Handler {
	return map[string]Handler{http.MethodGet: s.serve(show), http.MethodPost: s.serveForm(do)}
}

// site answers from the methods of these packages.
type site struct {
	owners    *owners.API
	exports   *exports.API
	lifecycle *lifecycle.API
	sendFile  SendFile
}

// page returns the view for a request. form is nil for a GET.
type page func(ctx context.Context, r *http.Request, form url.Values) (*view, error)

func (s *site) serve(find page) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return s.answer(w, r, find, nil) }
}

// serveForm is serve for a page that reads a form. Faults: unsupported_media_type, payload_too_large, invalid_input for a form
// that cannot be parsed, and the faults of a body that does not arrive.
func (s *site) serveForm(find page) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		form, err := readForm(w, r)
		if err != nil {
			return err
		}
		return s.answer(w, r, find, form)
	}
}

// answer bounds the database time of the whole page; the time in which a form arrives does not count.
func (s *site) answer(w http.ResponseWriter, r *http.Request, find page, form url.Values) error {
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	found, err := find(ctx, r, form)
	if err != nil {
		return err
	}
	if found.template != "" {
		if found.Operator, err = s.operator(ctx); err != nil {
			return err
		}
	}
	if found.file != nil {
		if err = s.sendFile(w, r, found.file, found.at); err != nil {
			SetHeaders(w.Header()) // back to the headers of a page
		}
		return err
	}
	found.write(w)
	return nil
}

// operator returns the operator's published details; zero while they are not set up.
func (s *site) operator(ctx context.Context) (owners.Operator, error) {
	required, err := s.owners.RegistrationRequirements(ctx)
	if err == nil {
		return required.Operator, nil
	}
	if known := fault.From(err); known.Code != fault.VerificationSetupPending {
		return owners.Operator{}, known
	}
	return owners.Operator{}, nil
}

// FormType is the media type of the forms of these pages.
const FormType = "application/x-www-form-urlencoded"

// readForm reads the form that a browser sends. A missing body is an empty form.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.ContentLength == 0 {
		return url.Values{}, nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != FormType || r.Header.Get("Content-Encoding") != "" {
		return nil, fault.New(fault.UnsupportedMediaType)
	}
	raw, err := web.ReadBody(w, r, maxForm)
	if err != nil {
		if known := fault.From(err); known.Code != fault.InternalError {
			return nil, known
		}
		return nil, fault.New(fault.InvalidInput) // the form was cut off
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, fault.New(fault.InvalidInput)
	}
	return form, nil
}
