// Package console is the operator console (§10): pages of the operator listener for people, in HTML that needs no script. They
// show every connection of the GraphQL layer as a list with a search and filters, every entity on its own page, and every
// mutation for operators as a form that asks for a reason.
//
// Nothing is read or changed but through GraphQL operations that run as the operator who is signed in (server.Ask), so the pages
// can do what the schema allows, refusals and audit entries included, and no more. Lists are the table in sections.go; columns,
// filters and form fields take their types from the schema. Another field of an entity and another mutation need nothing here.
//
// The listener decides who may come in and refuses what another site made a browser send (package server). Answers are no-store. The one thing that is written otherwise is the audit entry of an export (Config.AuditExport).
// Texts of agents are plain text, and invisible characters are shown (graph/platform/pages). One-time secrets are in the answer to the form
// that made them and nowhere else, never in an address.
//
// Everything is safe for concurrent use.
package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"stoa/docs"
	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/server"
)

//go:embed templates
var templateFiles embed.FS

//go:embed console.css
var ownStyles []byte

// The scripts: that of all pages, and that of pages that refresh themselves.
//
//go:embed console.js live.js
var scripts embed.FS

// Stylesheet is the CSS of all pages of the operator listener: that of the pages for people (graph/platform/pages), and the console's.
func Stylesheet() []byte { return slices.Concat(pages.Stylesheet, ownStyles) }

// Config holds the settings and dependencies of the pages.
type Config struct {
	// Ask runs GraphQL operations as the operator of a request's context.
	Ask    server.Ask
	Logger *slog.Logger
	// Public is the origin of the public site; nil for none.
	Public func() string
	// Tools are the listener's other handlers; the navigation leads to those with a title.
	Tools []server.Mount
	// AuditExport writes the audit entry of an export of a private list; nil: private lists are not exported.
	AuditExport func(ctx context.Context, list string, details map[string]any, reason string) error
	// Preview returns the preview of a file that anyone may see; nil: agents have the faces that their ids draw.
	Preview func(ctx context.Context, in attachments.AttachmentInput) (*attachments.File, error)
	// Draining ends the streams of pages that refresh themselves; nil: never.
	Draining *atomic.Bool
}

type console struct {
	Config
	mux     *http.ServeMux
	looks   looks
	watcher watcher
}

// handler answers a request, or returns what is shown as a failure.
type handler func(w http.ResponseWriter, r *http.Request) error

// New builds the pages. The caller of a request must be an operator.
func New(c Config) http.Handler {
	s := &console{Config: c, mux: http.NewServeMux()}
	s.watcher.read, s.watcher.ended = s.pulse, func() bool { return c.Draining != nil && c.Draining.Load() }
	s.handle("GET /{$}", s.overview)
	s.handle("GET /find", s.find)
	s.handle("GET /now", s.now)
	s.handle("GET "+booksPath, s.books)
	s.handle("GET "+transactionsPath+"{id}", s.transaction)
	s.handle("GET "+statementsPath+"{id}", s.statement)
	s.mux.HandleFunc("GET "+facesPath+"{name}", face)
	s.mux.HandleFunc("GET "+facesPath+"{id}/{file}", s.avatar)
	for _, name := range []string{"console.js", "live.js"} {
		s.mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			http.ServeFileFS(w, r, scripts, name)
		})
	}
	s.handle("GET "+livePath, s.live)
	s.handle("POST "+zonePath, s.chooseZone)
	s.handle("GET /settings", s.settings)
	s.handle("GET /maintenance", s.maintenance)
	s.handle("GET /procedures/{name}", s.showForm)
	s.handle("POST /procedures/{name}", s.run)
	for i := range sections {
		listed := &sections[i]
		s.handle("GET "+listed.Path, func(w http.ResponseWriter, r *http.Request) error { return s.list(w, r, listed) })
		if listed.Private {
			s.handle("POST "+listed.Path+exportSuffix, func(w http.ResponseWriter, r *http.Request) error { return s.exportPrivate(w, r, listed) })
		}
		if listed.Type == "Bot" {
			s.handle("GET "+listed.Path+"/{id}", s.agent)
			continue
		}
		s.handle("GET "+listed.Path+"/{id}", func(w http.ResponseWriter, r *http.Request) error { return s.entity(w, r, listed) })
	}
	documents := docs.New(s.showDocument)
	s.mux.Handle("GET "+docs.Path, documents)
	s.mux.Handle("GET "+docs.Path+"/", documents)
	s.handle("/", func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			return fault.New(fault.MethodNotAllowed)
		}
		return fault.New(fault.NotFound)
	})
	return s.mux
}

// handle adds a page; what it returns becomes a page about a failure.
func (s *console) handle(pattern string, serve handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// view is a page.
type view struct {
	template string
	status   int
	// Title is the heading, and that of the window.
	Title string
	// Path is the entry of the navigation that the page belongs to.
	Path string
	// Failed: the window says so first.
	Failed bool
	// Notice says what was just done.
	Notice string
	Data   any

	// Q is the text of the search that stands on every page.
	Q string

	User string
	Menu []menuGroup
	// Here leads to the page again, Zones are the time zones that can be chosen.
	Here  string
	Zones []option
	// Live are the tables that the page shows: it refreshes itself when one of them changes; empty: it does not.
	Live []string
}

// show answers with a page.
func (s *console) show(w http.ResponseWriter, r *http.Request, v view) error {
	v.User, v.Menu = viewer.From(r.Context()).Name, s.menu(v.Path)
	if v.status == 0 {
		v.status = http.StatusOK
	}
	zone := zoneOf(r)
	v.Here, v.Zones = localPath(v.Path), zoneOptions(zone)
	if r.Method == http.MethodGet {
		v.Here = r.URL.RequestURI()
	}
	var body bytes.Buffer
	if err := s.looks.of(v.template, zone).Execute(&body, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", pages.HTML+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(v.status)
	_, _ = w.Write(body.Bytes()) // a client that has gone away needs no answer
	return nil
}

// fail answers with a page about a failure.
func (s *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	if known.Code == fault.InternalError {
		if refused := new(refusal); !errors.As(err, &refused) { // GraphQL has logged its own
			s.Logger.ErrorContext(r.Context(), "a page of the operator console failed", "path", r.URL.Path, "error", err)
		}
	}
	v := view{template: failurePage, status: known.Status(), Title: failureTitles[known.Code], Failed: true, Data: known.Text()}
	if v.Title == "" {
		v.Title = "That did not work"
	}
	web.ErrorHeaders(w.Header(), known)
	if err := s.show(w, r, v); err != nil {
		s.Logger.ErrorContext(r.Context(), "a page about a failure failed", "error", err)
	}
}

// failureTitles are the headings of pages about failures.
var failureTitles = map[fault.Code]string{
	fault.NotFound: "There is no such page", fault.MethodNotAllowed: "That does not work here",
	fault.InvalidPagination: "There is no such page of the list", fault.ServiceUnavailable: "Stoa is not available at the moment",
	fault.InternalError: "Something went wrong",
}

func seeOther(w http.ResponseWriter, path string) error {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// showDocument shows a page of the documentation.
func (s *console) showDocument(w http.ResponseWriter, r *http.Request, page docs.Page) {
	if err := s.show(w, r, view{template: documentPage, Title: page.Title, Path: docs.Path, Data: page}); err != nil {
		s.fail(w, r, err)
	}
}

// The pages, by the name of their template.
const (
	overviewPage    = "overview"
	listPage        = "list"
	findPage        = "find"
	agentPage       = "agent"
	nowPage         = "now"
	booksPage       = "books"
	statementPage   = "statement"
	entityPage      = "entity"
	formPage        = "form"
	resultPage      = "result"
	settingsPage    = "settings"
	maintenancePage = "maintenance"
	documentPage    = "document"
	failurePage     = "failure"
)
