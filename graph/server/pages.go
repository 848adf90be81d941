package server

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// pagePolicy is the Content-Security-Policy of every page: it allows only this listener's files, and no inline code.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// consolePolicy is the policy of the pages of Config.Pages: their scripts read pages of this listener.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

//go:embed pages
var pageFiles embed.FS

var signInPage = template.Must(template.ParseFS(pageFiles, "pages/sign-in.html"))

// setPageHeaders sets the security headers of a page; an empty policy is pagePolicy. The Referrer-Policy must let a page send
// Origin to this listener.
func setPageHeaders(w http.ResponseWriter, policy string) {
	pages.SetHeaders(w.Header())
	w.Header().Set("Content-Security-Policy", cmp.Or(policy, pagePolicy))
	w.Header().Set("Referrer-Policy", "same-origin")
}

// showSignInForm answers with the sign-in page.
func showSignInForm(w http.ResponseWriter, status int, form signInForm) {
	var rendered bytes.Buffer
	if err := signInPage.Execute(&rendered, form); err != nil {
		panic(err) // the page is part of the program
	}
	setPageHeaders(w, "")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(rendered.Bytes()) // a client that has gone away needs no answer
}

// serveFile serves a file that the pages refer to.
func serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		setPageHeaders(w, "")
		http.ServeFileFS(w, r, pageFiles, "pages/"+name)
	}
}

// serveStylesheet serves the CSS of all pages.
func (s *server) serveStylesheet(w http.ResponseWriter, r *http.Request) {
	setPageHeaders(w, "")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.Stylesheet))
}

// failPage is like fail, but answers a browser that wants a page and has no session with the sign-in page. A form that this
// listener's page has sent comes back as a hidden form, to be sent once more after a sign-in in another tab.
func (s *server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	known := faultOf(r.Context(), err)
	browser := (isRead(r) || sameOrigin(r)) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if known.Code != fault.Unauthorized || !browser || len(r.Header.Values("Authorization")) > 0 {
		s.fail(w, r, err)
		return
	}
	form := signInForm{Next: s.localPath(r.URL.RequestURI())}
	if !isRead(r) {
		r.Body = http.MaxBytesReader(w, r.Body, maxKept)
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, web.BodyError(err))
			return
		}
		form.Kept = r.PostForm
	}
	web.ErrorHeaders(w.Header(), known)
	showSignInForm(w, known.Status(), form)
}

// Answer is the result of a GraphQL operation.
type Answer struct {
	Errors gqlerror.List `json:"errors,omitempty"`
	// Data is null if nothing was run.
	Data json.RawMessage `json:"data"`
}

// Ask runs one GraphQL operation for a page of this process as the caller of ctx, with the same executor, errors and metrics as a
// request over HTTP. Variables hold JSON values. It is safe for concurrent use.
type Ask func(ctx context.Context, query string, variables map[string]any) Answer

func (s *server) ask(ctx context.Context, query string, variables map[string]any) Answer {
	began := time.Now()
	info, err := examineDocument(query, "")
	if err != nil {
		return s.refusal(ctx, err)
	}
	raw, err := json.Marshal(variables)
	if err != nil {
		return s.refusal(ctx, err)
	}
	params := &graphql.RawParams{Query: query}
	if params.Variables, err = readVariables(raw); err != nil {
		return s.refusal(ctx, err)
	}
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	_, answer := s.run(ctx, viewer.From(ctx), params)
	s.count(began, operationOf(info.mutating), codeOf(answer))
	return answer
}
