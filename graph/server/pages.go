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

// defend sets the headers of a page; an empty policy is pagePolicy. The Referrer-Policy must let Origin be sent to ourselves.
func defend(w http.ResponseWriter, policy string) {
	if policy == "" {
		policy = pagePolicy
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	w.Header().Set("Referrer-Policy", "same-origin")
}

// show answers with one of our own pages.
func show(w http.ResponseWriter, status int, name string, data any) {
	var rendered bytes.Buffer
	if err := pageTemplates.ExecuteTemplate(&rendered, name, data); err != nil {
		panic(err) // the pages are part of the program
	}
	defend(w, "")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(rendered.Bytes()) // a client that has gone away needs no answer
}

// fixed serves a file that the pages refer to.
func fixed(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defend(w, "")
		http.ServeFileFS(w, r, pageFiles, "pages/"+name)
	}
}

// index links what the listener carries.
func (s *server) index(w http.ResponseWriter, r *http.Request) {
	v, err := s.admitOperator(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	show(w, http.StatusOK, "index.html", struct {
		Name   string
		Mounts []Mount
	}{v.Name, s.Mounts})
}

// refuse is fail, but where a browser wants a page and has no session, the answer is the sign-in page.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	known := faultOf(r.Context(), err)
	browser := reads(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if known.Code != fault.Unauthorized || !browser || len(r.Header.Values("Authorization")) > 0 {
		s.fail(w, r, err)
		return
	}
	show(w, known.Status(), "sign-in.html", signInForm{Next: s.local(r.URL.RequestURI())})
}
