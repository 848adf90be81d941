// Package playground is GraphiQL on the operator listener: a page of ours and a script that starts it, and the minified files of
// GraphiQL and React that `make build` fetches once into assets/ (package-lock.json says which). All of it is part of the
// binary, so it works without any internet. A binary that was built without those files says so on the page.
//
// The page asks /graphql with the browser's session. Who may see it is the mount's business.
package playground

import (
	"embed"
	"io/fs"
	"net/http"
)

const (
	// Path of the page; its files lie below.
	Path = "/playground"
	// Policy is its Content-Security-Policy: no inline code; but GraphiQL writes style elements, and its fonts are in its style
	// sheet.
	Policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

// scripts are the files without which there is no playground.
var scripts = []string{"react.production.min.js", "react-dom.production.min.js", "graphiql.min.js", "graphiql.min.css"}

//go:embed page.html page.js page.css missing.html
var own embed.FS

//go:embed all:assets
var fetched embed.FS

// New builds the handler of Path and everything below it.
func New() http.Handler { return serve(fetched) }

func serve(fetched fs.FS) http.Handler {
	mux := http.NewServeMux()
	page := "page.html"
	for _, name := range scripts {
		if _, err := fs.Stat(fetched, "assets/"+name); err != nil {
			page = "missing.html"
		}
	}
	mux.Handle("GET "+Path, file(own, page))
	for _, name := range []string{"page.js", "page.css"} {
		mux.Handle("GET "+Path+"/"+name, file(own, name))
	}
	for _, name := range append(scripts, "licenses.txt") {
		mux.Handle("GET "+Path+"/assets/"+name, file(fetched, "assets/"+name))
	}
	return mux
}

// file serves one file; what is part of the binary cannot change while it runs, so a browser may keep it for an hour.
func file(from fs.FS, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=3600")
		http.ServeFileFS(w, r, from, name)
	})
}
