// Package docs carries the documentation in the binary, so that an operator has the pages of the very version that runs.
package docs

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

// Path of the list of pages; each page lies below it.
const Path = "/docs"

//go:embed *.md alerts.yml dashboards/stoa.json runbook/*.md
var pages embed.FS

var list = template.Must(template.New("list").Parse(`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Documentation · Stoa operators</title>
  <link rel="stylesheet" href="/style.css">
  <link rel="icon" href="/icon.svg">
</head>
<body>
<main>
  <h1>Documentation</h1>
  <ul>
    {{range .}}<li><a href="` + Path + `/{{.}}">{{.}}</a></li>
    {{end}}
  </ul>
  <footer><a href="/">Back</a></footer>
</main>
</body>
</html>
`))

// New builds the handler of Path and everything below it: a list of links, and the pages as they are written, as plain text.
func New() http.Handler {
	var names []string
	_ = fs.WalkDir(pages, ".", func(name string, entry fs.DirEntry, err error) error { // the binary's own files can be listed
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = list.Execute(w, names) // a client that has gone away needs no answer
	})
	mux.HandleFunc("GET "+Path+"/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")             // a browser shows it instead of saving it
		http.ServeFileFS(w, r, pages, strings.TrimPrefix(r.URL.Path, Path+"/")) //nolint:gosec // there is no way out of embedded files
	})
	return mux
}
