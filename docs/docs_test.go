package docs_test

import (
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/docs"
)

func get(handler http.Handler, at string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, at, nil))
	return answer
}

// layout is the least that a page is shown in.
var layout = template.Must(template.New("page").Parse(
	`<title>{{.Title}}</title>{{.Body}}{{range .Entries}}<a href="{{.Path}}">{{.Name}}</a> {{.Title}}{{end}}`))

func newDocs(t *testing.T) http.Handler {
	t.Helper()
	return docs.New(func(w http.ResponseWriter, _ *http.Request, page docs.Page) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := layout.Execute(w, page); err != nil {
			t.Error(err)
		}
	})
}

var hrefs = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// Every file can be read, and every link of every page leads to a page of ours or away from here.
func TestPagesAndTheirLinks(t *testing.T) {
	t.Parallel()
	handler := newDocs(t)
	seen, next := map[string]bool{}, []string{"/docs", "/docs/", "/docs/runbook", "/docs/runbook/", "/docs/dashboards/"}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		answer := get(handler, at)
		require.Equal(t, http.StatusOK, answer.Code, at)
		media := answer.Header().Get("Content-Type")
		if ext := path.Ext(at); ext == ".yml" || ext == ".json" || ext == ".txt" {
			require.Equal(t, "text/plain; charset=utf-8", media, at)
			continue
		}
		if strings.HasPrefix(media, "image/") {
			require.Contains(t, []string{".svg", ".png"}, path.Ext(at))
			continue
		}
		require.Equal(t, "text/html; charset=utf-8", media, at)
		text := answer.Body.String()
		require.NotRegexp(t, `<style|\son[a-z]+="|\sstyle="|<script`, text, "%s keeps to a strict policy", at)
		base := &url.URL{Path: at}
		for _, found := range hrefs.FindAllStringSubmatch(text, -1) {
			to, err := base.Parse(found[1])
			require.NoError(t, err)
			if to.Host == "" {
				next = append(next, to.Path)
			}
		}
	}
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			require.True(t, seen["/docs/"+name], "%s can be found from the list", name)
		}
		return err
	}))
}

func TestAPageIsHTML(t *testing.T) {
	t.Parallel()
	handler := newDocs(t)
	running := get(handler, "/docs/running.md").Body.String()
	require.Contains(t, running, "<title>Running Stoa</title>")
	require.Contains(t, running, `<h2 id="the-database">The database</h2>`)
	require.Contains(t, running, `<a href="operating.md">`)
	require.Contains(t, running, `<table tabindex="0">`)
	require.Contains(t, get(handler, "/docs/runbook/").Body.String(), `<a href="/docs/runbook/StoaDown.md">StoaDown.md</a>`)
	require.Contains(t, get(handler, "/docs/alerts.yml").Body.String(), "StoaDown")
	for _, unknown := range []string{"/docs/nothing.md", "/docs/docs.go", "/docs/runbook/x"} {
		require.Equal(t, http.StatusNotFound, get(handler, unknown).Code, unknown)
	}
}
