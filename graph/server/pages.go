package server

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"stoa/graph/platform/fault"
)

// pagePolicy is the Content-Security-Policy of every page: nothing but what this listener serves, and no inline code.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

//go:embed pages
var pageFiles embed.FS

var pageTemplates = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

// setPageHeaders sets the security headers of a page; an empty policy is pagePolicy. The Referrer-Policy must let a page send Origin to
// this listener.
func setPageHeaders(w http.ResponseWriter, policy string) {
	if policy == "" {
		policy = pagePolicy
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	w.Header().Set("Referrer-Policy", "same-origin")
}

// showPage answers with one of the pages of this package.
func showPage(w http.ResponseWriter, status int, name string, data any) {
	var rendered bytes.Buffer
	if err := pageTemplates.ExecuteTemplate(&rendered, name, data); err != nil {
		panic(err) // the pages are part of the program
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

// index is the page that links the mounts.
func (s *server) index(w http.ResponseWriter, r *http.Request) {
	v, err := s.authenticateOperator(w, r)
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	showPage(w, http.StatusOK, "index.html", struct {
		Name   string
		Mounts []Mount
	}{v.Name, s.Mounts})
}

// failPage is fail, but a browser that wants a page and has no session gets the sign-in page.
func (s *server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	known := faultOf(r.Context(), err)
	browser := isRead(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if known.Code != fault.Unauthorized || !browser || len(r.Header.Values("Authorization")) > 0 {
		s.fail(w, r, err)
		return
	}
	showPage(w, known.Status(), "sign-in.html", signInForm{Next: s.localPath(r.URL.RequestURI())})
}
