// Package playground is GraphiQL on the operator listener: our page, a script that starts GraphiQL, and the minified files of
// GraphiQL and React in assets/, copied by .ci/playground in the versions of package-lock.json. All files are part of the binary,
// so the page needs no internet.
// The page queries /graphql with the browser's session. The server that mounts it decides who may open it.
package playground

import (
	"embed"
	"io/fs"
	"net/http"
)

const (
	// Path of the page; its files lie below.
	Path = "/playground"
	// Policy is its Content-Security-Policy. It forbids inline scripts. GraphiQL needs inline styles, and fonts from its style
	// sheet.
	Policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

//go:embed page.html page.js page.css
var own embed.FS

//go:embed assets/*.js assets/*.css assets/licenses.txt
var assets embed.FS

// New builds the handler of Path and everything below it.
func New() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, file(own, "page.html"))
	for _, name := range []string{"page.js", "page.css"} {
		mux.Handle("GET "+Path+"/"+name, file(own, name))
	}
	names, _ := fs.Glob(assets, "assets/*") // the pattern is well formed
	for _, name := range names {
		mux.Handle("GET "+Path+"/"+name, file(assets, name))
	}
	return mux
}

// file serves one file. Files of the binary cannot change while it runs, so a browser may cache one for an hour.
func file(from fs.FS, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=3600")
		http.ServeFileFS(w, r, from, name)
	})
}
