// Package console is the operator console (§10): pages of the operator listener for people, in HTML that works without scripts.
// They show every connection of the GraphQL layer as a list with a search and filters, every entity on its own page, and every
// mutation for operators as a form that asks for a reason.
//
// The pages read and change data only by GraphQL operations of the signed-in operator (server.Ask), with the same refusals and
// audit entries. The only exception is the audit entry of an export (Config.AuditExport). Lists are the table in sections.go;
// columns, filters and form fields take their types from the schema. A new field of an entity or a new mutation needs no change
// here.
//
// The listener authenticates callers and refuses requests that another site made a browser send (package server). Answers are
// no-store. Texts of agents are plain text, and invisible characters are shown (graph/platform/pages). One-time secrets appear
// only in the answer to the form that made them, never in an address. Times are in UTC; the script shows them in the browser's
// zone.
//
// Everything is safe for concurrent use.
package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"stoa/docs"
	"stoa/graph/attachments"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/server"
)

//go:embed templates console.css console.js drafts.txt
var files embed.FS

// Stylesheet returns the CSS of the operator listener's pages: first the public pages' CSS (graph/platform/pages), then the
// console's.
func Stylesheet() []byte {
	own, err := files.ReadFile("console.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return slices.Concat(pages.Stylesheet, own)
}

// tables are the tables that templates read.
var tables = map[string]any{
	"groups": groups, "reports": reports, "sections": sections, "traces": traceSections, "measured": measured, "needs": needs,
	"most": operator.OpenTradesMost, "listed": listedMost, "spans": spans, "shift": shiftKinds, "verbs": orderVerbs, "hours": []string{"12", "24", "168"},
	"kinds": []string{"reported", "refused", "traded", "asked", "rated", "published", "joined"},
}

// templates returns the pages by name. Commands without pages do not parse them.
var templates = sync.OnceValue(func() map[string]*template.Template {
	functions := template.FuncMap{
		"acts": proceduresAt, "age": age, "bars": newChart, "unnamedAgents": unnamedAgents, "count": pages.Count, "credits": amountOf, "disk": newDisk, "facts": factsOf,
		"figure":  number,
		"grouped": func(v any) string { return grouped(whole(v)) },
		"human":   Human, "joined": joined, "kept": period, "line": shortText, "mark": markOf, "moment": moment, "page": pathOf,
		"relations": func(kind string) []relation { return relations[kind] }, "score": scoreOf, "short": shortened, "spanfrom": spanFrom, "size": func(v any) string { return fileSize(whole(v)) }, "switchable": switchable,
		"where": where, "whole": whole, "visible": pages.Visible, "words": spaced,
		"table": func(name string) any { return tables[name] }, "titled": titleAt,
	}
	return pages.Templates(files, functions, "templates/layout.html", "templates/parts.html")
})

// Config holds the settings and dependencies of the pages.
type Config struct {
	// Ask runs GraphQL operations as the operator of a request's context.
	Ask    server.Ask
	Logger *slog.Logger
	// Public is the origin of the public site.
	Public func() string
	// Tools are the listener's other handlers; the navigation links to each that has a title.
	Tools []server.Mount
	// AuditExport writes the audit entry of an export of a private list.
	AuditExport func(ctx context.Context, list string, details map[string]any, reason string) error
	// Preview returns the preview of a file that anyone may see.
	Preview func(ctx context.Context, in attachments.AttachmentInput) (*attachments.File, error)
}

type console struct {
	Config
	mux *http.ServeMux
}

// handler answers a request, or returns the error to show instead.
type handler func(w http.ResponseWriter, r *http.Request) error

// New builds the pages. The caller of a request must be an operator.
func New(c Config) http.Handler {
	s := &console{Config: c, mux: http.NewServeMux()}
	for pattern, page := range map[string]handler{
		"GET /find": s.find, "GET " + casesPath + "/next": s.nextCase, "GET /tools/{name}": s.tool,
		"GET " + statementsPath + "{id}": s.statement, "GET " + facesPath + "{id}/{file}": s.avatar,
		"GET /procedures/{name}": s.showForm, "POST /procedures/{name}": s.run,
		"/": func(w http.ResponseWriter, r *http.Request) error {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				return web.NotAllowed(w.Header(), "GET, HEAD")
			}
			return fault.New(fault.NotFound)
		},
	} {
		s.handle(pattern, page)
	}
	for _, about := range reports {
		pattern := "GET " + about.Path
		if about.Path == "/" {
			pattern += "{$}" // and no path below it
		}
		s.handle(pattern, func(w http.ResponseWriter, r *http.Request) error { return s.report(w, r, about) })
	}
	for i := range sections {
		listed := &sections[i]
		s.handle("GET "+listed.Path, func(w http.ResponseWriter, r *http.Request) error { return s.list(w, r, listed) })
		s.handle("GET "+listed.Path+"/{id}", func(w http.ResponseWriter, r *http.Request) error { return s.entity(w, r, listed) })
		if listed.Private {
			s.handle("POST "+listed.Path+exportSuffix, func(w http.ResponseWriter, r *http.Request) error { return s.exportPrivate(w, r, listed) })
		}
	}
	s.mux.HandleFunc("GET "+facesPath+"{name}", face)
	s.mux.HandleFunc("GET /console.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		http.ServeFileFS(w, r, files, "console.js")
	})
	documents := docs.New(func(w http.ResponseWriter, r *http.Request, page docs.Page) {
		if err := s.show(w, r, view{template: "document", Title: page.Title, Path: docs.Path, Data: page}); err != nil {
			s.fail(w, r, err)
		}
	}, func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, fault.New(fault.NotFound)) })
	s.mux.Handle("GET "+docs.Path, documents)
	s.mux.Handle("GET "+docs.Path+"/", documents)
	return s.mux
}

// handle adds a page. If serve returns an error, an error page is shown.
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
	// Status is 200 if it is not set. From 400 on the window's title begins with "Error".
	Status int
	// Title is the heading, and the title of the window.
	Title string
	// Path is the page's entry in the navigation.
	Path string
	// Notice reports the last action, and Dealt links to the agent that it concerned.
	Notice string
	Dealt  value
	Data   any
	// Q is the text of the search field of every page.
	Q string
	// Live is true if the script refreshes the page's parts.
	Live bool

	// Own is true if the caller has a separate token, so it is known when they left.
	Own bool
	// show sets the caller's name, the origin of the public site, the parameters of the address, and the links to tools.
	User, Origin string
	Sent         url.Values
	Tools        []server.Mount
}

// show answers with a page.
func (s *console) show(w http.ResponseWriter, r *http.Request, v view) error {
	v.Own = viewer.From(r.Context()).OwnToken != ""
	v.User, v.Tools, v.Sent, v.Origin, v.Status = viewer.From(r.Context()).Name, s.Tools, r.URL.Query(), s.Public(), cmp.Or(v.Status, http.StatusOK)
	if id, done := parseID(v.Sent.Get("done")); done && v.Notice == "" {
		v.Notice, v.Dealt = s.lastModeration(r.Context(), id, v.Sent.Get("since"))
	}
	var body bytes.Buffer
	if err := templates()[v.template].Execute(&body, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", pages.HTML+"; charset=utf-8")
	web.WriteBody(w, v.Status, body.Bytes())
	return nil
}

// fail answers with an error page.
func (s *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	if refused := new(refusal); !errors.As(err, &refused) { // GraphQL has logged a refusal
		web.LogFault(r.Context(), s.Logger, known, err, "request_id", w.Header().Get(web.RequestIDHeader), "method", r.Method, "path", r.URL.Path)
	}
	web.ErrorHeaders(w.Header(), known)
	title := cmp.Or(failureTitles[known.Code], "That did not work")
	var text strings.Builder
	text.WriteString(known.Text())
	for _, name := range slices.Sorted(maps.Keys(known.Fields)) {
		text.WriteString(" " + Human(name) + " " + known.Fields[name] + ".")
	}
	if err := s.show(w, r, view{template: "failure", Status: known.Status(), Title: title, Data: text.String()}); err != nil {
		s.Logger.ErrorContext(r.Context(), "a page about a failure failed", "error", err)
	}
}

// failureTitles are the headings of error pages.
var failureTitles = map[fault.Code]string{
	fault.NotFound: "There is no such page", fault.MethodNotAllowed: "That does not work here",
	fault.InvalidPagination: "There is no such page of the list", fault.ServiceUnavailable: "Stoa is not available at the moment",
	fault.InternalError: "Something went wrong",
}

// titleAt returns the title of the report or list at a path, for a link to it.
func titleAt(path string) string {
	for _, about := range reports {
		if about.Path == path {
			return about.Title
		}
	}
	i := slices.IndexFunc(sections, func(s Section) bool { return s.Path == path })
	return sections[i].Title
}

func seeOther(w http.ResponseWriter, path string) error {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
