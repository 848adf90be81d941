// Package docs embeds the documentation in the binary, so that operators have the pages of the running version.
package docs

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	gmutil "github.com/yuin/goldmark/util"
)

// Path is the path of the list of pages; each page is below it, under its file name.
const Path = "/docs"

//go:embed *.md *.svg pictures/*.png alerts.yml dashboards/stoa.json decisions/*.md runbook/*.md
var files embed.FS

// markdown converts a page to HTML. It drops raw HTML, so a page has no active content.
var markdown = goldmark.New(goldmark.WithParserOptions(
	parser.WithAutoHeadingID(), parser.WithASTTransformers(gmutil.Prioritized(wideTables{}, 0)),
), goldmark.WithExtensions(
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), // see wideTables
	extension.Linkify, extension.Strikethrough, extension.TaskList,
))

// Page is a text, or the list of a folder.
type Page struct {
	Title string
	// Up is the path of the page's folder; empty for the list of all pages.
	Up string
	// Body is the text; empty for a folder.
	Body    template.HTML
	Entries []Entry
}

// Entry is a page of a folder.
type Entry struct{ Path, Name, Title string }

// Show answers a request with a page.
type Show func(w http.ResponseWriter, r *http.Request, page Page)

// New builds the handler of Path and everything below it: folders as lists of links, Markdown as HTML, so that links between the
// pages work, and all other files as plain text; missing answers if there is no such file. Each page is made once, at its first
// request: all pages together take a fifth of a second.
func New(show Show, missing http.HandlerFunc) http.Handler {
	pages := make(map[string]func() Page)
	err := fs.WalkDir(files, ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := path.Join(Path, name)
		switch {
		case found.IsDir():
			pages[at] = sync.OnceValue(func() Page { return folder(name, at) })
			pages[at+"/"] = pages[at]
		case path.Ext(name) == ".md":
			pages[at] = sync.OnceValue(func() Page { return document(name, at) })
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := pages[r.URL.Path]; ok {
			show(w, r, page())
			return
		}
		if _, err := fs.Stat(files, strings.TrimPrefix(r.URL.Path, Path+"/")); err != nil {
			missing(w, r)
			return
		}
		serve(w, r)
	})
}

// pictures are the types of files that are no texts.
var pictures = map[string]string{".svg": "image/svg+xml", ".png": "image/png"}

// serve answers with a file unchanged.
func serve(w http.ResponseWriter, r *http.Request) {
	media, isPicture := pictures[path.Ext(r.URL.Path)]
	if !isPicture {
		media = "text/plain; charset=utf-8" // a browser shows texts instead of saving them
	}
	w.Header().Set("Content-Type", media)
	http.ServeFileFS(w, r, files, strings.TrimPrefix(r.URL.Path, Path+"/")) //nolint:gosec // no path leads out of the embedded files
}

// folder lists the contents of a folder and of the folders below it.
func folder(name, at string) Page {
	p := Page{Title: "Documentation"}
	if name != "." {
		p.Title, p.Up = name, path.Dir(at)
	}
	_ = fs.WalkDir(files, name, func(inner string, found fs.DirEntry, err error) error { // it was walked at the start
		if err == nil && inner != name {
			e := Entry{Path: path.Join(Path, inner), Name: strings.TrimPrefix(inner, name+"/")}
			if found.IsDir() {
				e.Name += "/"
			}
			if path.Ext(inner) == ".md" {
				e.Title = title(inner)
			}
			p.Entries = append(p.Entries, e)
		}
		return err
	})
	return p
}

// title returns the first heading of a Markdown file, or else its name.
func title(name string) string {
	first, _, _ := bytes.Cut(read(name), []byte("\n"))
	if heading, found := bytes.CutPrefix(first, []byte("# ")); found {
		return string(heading)
	}
	return strings.TrimSuffix(path.Base(name), ".md")
}

// Contract returns the contract in Markdown, without its links to other pages, which only operators can read.
func Contract() []byte { return operatorsPage.ReplaceAll(read("contract.md"), nil) }

var operatorsPage = regexp.MustCompile(` \(\[[a-z]+\.md\]\([a-z]+\.md\)\)`)

// Metrics returns the table of all metrics in Markdown.
func Metrics() string { return string(read("metrics.md")) }

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return text
}

// document converts a Markdown file to HTML, without the heading that becomes the page's title.
func document(name, at string) Page {
	text := read(name)
	if first, rest, found := bytes.Cut(text, []byte("\n")); found && bytes.HasPrefix(first, []byte("# ")) {
		text = rest
	}
	parsed := markdown.Parser().Parse(gmtext.NewReader(text))
	keepLinks(parsed, path.Dir(name))
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, text, parsed); err != nil {
		panic(err) // the files are part of the program
	}
	// Like a table, an example that is wider than the window scrolls separately.
	scrolling := strings.ReplaceAll(body.String(), "<pre>", `<pre tabindex="0">`)
	html := template.HTML(scrolling) //nolint:gosec // the files are ours, without raw HTML
	return Page{Title: title(name), Up: path.Dir(at), Body: html}
}

// keepLinks keeps the links of a document in a folder that lead to a page; its links to other files of the repository become
// text.
func keepLinks(document ast.Node, folder string) {
	var dead []*ast.Link
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if link, ok := n.(*ast.Link); ok && entering && !leads(string(link.Destination), folder) {
			dead = append(dead, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range dead {
		parent := link.Parent()
		for link.FirstChild() != nil {
			parent.InsertBefore(parent, link, link.FirstChild())
		}
		parent.RemoveChild(parent, link)
	}
}

// leads reports whether the target of a link in a folder's document exists.
func leads(address, folder string) bool {
	to, err := url.Parse(address)
	if err != nil || to.IsAbs() || to.Path == "" {
		return err == nil
	}
	_, err = fs.Stat(files, path.Join(folder, to.Path))
	return err == nil
}
