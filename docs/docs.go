// Package docs carries the documentation in the binary, so that an operator has the pages of the very version that runs.
package docs

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmutil "github.com/yuin/goldmark/util"
)

// Path of the list of pages; each page lies below it, under the name of its file.
const Path = "/docs"

//go:embed *.md *.svg alerts.yml dashboards/stoa.json decisions/*.md runbook/*.md
var files embed.FS

// markdown makes HTML of a page. HTML within a page is left out, so nothing of it can be active.
var markdown = goldmark.New(goldmark.WithParserOptions(
	parser.WithAutoHeadingID(), parser.WithASTTransformers(gmutil.Prioritized(wideTables{}, 0)),
), goldmark.WithExtensions(
	// A policy forbids the style attribute, which tables would get otherwise.
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	extension.Linkify, extension.Strikethrough, extension.TaskList,
))

var layout = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{{.Title}} · Stoa operators</title>
  <link rel="stylesheet" href="/style.css">
  <link rel="icon" href="/icon.svg">
</head>
<body>
<main class="document">
{{if .Body}}{{.Body}}{{else}}<h1>{{.Title}}</h1>
<ul>
  {{range .Entries}}<li><a href="{{.Address}}">{{.Name}}</a></li>
  {{end}}
</ul>{{end}}
<footer><a href="{{.Up}}">Back</a></footer>
</main>
</body>
</html>
`))

// page is what the layout shows: a text, or the list of a folder.
type page struct {
	Title, Up string
	Body      template.HTML
	Entries   []entry
}

type entry struct{ Address, Name string }

// New builds the handler of Path and everything below it: folders as lists of links, Markdown as HTML, so that links between the
// pages work, and all other files as plain text. It makes every page once, when it is called.
func New() http.Handler {
	pages := make(map[string][]byte)
	mux := http.NewServeMux()
	err := fs.WalkDir(files, ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := path.Join(Path, name)
		switch {
		case found.IsDir():
			pages[at] = render(folder(name, at))
			pages[at+"/"] = pages[at]
		case path.Ext(name) == ".md":
			text, err := files.ReadFile(name)
			if err != nil {
				return err
			}
			pages[at] = render(document(name, at, text))
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) { serve(w, r, pages) })
	mux.HandleFunc("GET "+Path+"/", func(w http.ResponseWriter, r *http.Request) { serve(w, r, pages) })
	return mux
}

func serve(w http.ResponseWriter, r *http.Request, pages map[string][]byte) {
	if made, ok := pages[r.URL.Path]; ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(made) // a client that has gone away needs no answer
		return
	}
	// A browser shows texts instead of saving them.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if path.Ext(r.URL.Path) == ".svg" {
		w.Header().Set("Content-Type", "image/svg+xml")
	}
	http.ServeFileFS(w, r, files, strings.TrimPrefix(r.URL.Path, Path+"/")) //nolint:gosec // there is no way out of embedded files
}

// folder lists what is in a folder and below it.
func folder(name, at string) page {
	p := page{Title: "Documentation", Up: "/"}
	if name != "." {
		p.Title, p.Up = name, path.Dir(at)
	}
	_ = fs.WalkDir(files, name, func(inner string, found fs.DirEntry, err error) error { // it was walked before
		if err == nil && inner != name {
			label := strings.TrimPrefix(inner, name+"/")
			if found.IsDir() {
				label += "/"
			}
			p.Entries = append(p.Entries, entry{path.Join(Path, inner), label})
		}
		return err
	})
	return p
}

// document makes HTML of a Markdown file.
func document(name, at string, text []byte) page {
	var body bytes.Buffer
	if err := markdown.Convert(text, &body); err != nil {
		panic(err) // the files are part of the program
	}
	title := strings.TrimSuffix(path.Base(name), ".md")
	if first, _, found := bytes.Cut(text, []byte("\n")); found && bytes.HasPrefix(first, []byte("# ")) {
		title = string(first[2:])
	}
	html := template.HTML(body.String()) //nolint:gosec // of our own files, without raw HTML
	return page{Title: title, Up: path.Dir(at), Body: html}
}

func render(p page) []byte {
	var text bytes.Buffer
	if err := layout.Execute(&text, p); err != nil {
		panic(err) // the layout is part of the program
	}
	return text.Bytes()
}
