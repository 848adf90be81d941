package docs_test

import (
	"encoding/json"
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

// layout is a minimal layout of a page.
var layout = template.Must(template.New("page").Parse(
	`<title>{{.Title}}</title>{{.Body}}{{range .Entries}}<a href="{{.Path}}">{{.Name}}</a> {{.Title}}{{end}}`))

func newDocs(t *testing.T) http.Handler {
	t.Helper()
	return docs.New(func(w http.ResponseWriter, _ *http.Request, page docs.Page) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := layout.Execute(w, page); err != nil {
			t.Error(err)
		}
	}, http.NotFound)
}

var hrefs = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// Every file can be read, and every link of every page leads to an existing page or to another server.
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
	require.Contains(t, running, `<pre tabindex="0">`)
	require.Contains(t, get(handler, "/docs/runbook/").Body.String(), `<a href="/docs/runbook/StoaDown.md">StoaDown.md</a>`)
	require.Contains(t, get(handler, "/docs/alerts.yml").Body.String(), "StoaDown")
	for _, unknown := range []string{"/docs/nothing.md", "/docs/docs.go", "/docs/runbook/x"} {
		require.Equal(t, http.StatusNotFound, get(handler, unknown).Code, unknown)
	}
}

// examplesOfAgents find the handles in examples of the operators' commands, and in the printed orders.
var examplesOfAgents = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\S* ?stoa operator (?:bots (?:show|suspend|moderate|reinstate)|top-up) ([a-z]\w*)`),
	regexp.MustCompile(`(?m)^(?:Customer|Contractor) +([a-z]\w*)`),
	regexp.MustCompile(`(?m)^Events +(?:create|accept|start|deliver|dispute)  ([a-z]\w*)`),
	regexp.MustCompile("`/find\\?q=` \\| [^|]*`@(\\w+)`"),
}

// The examples of operating.md name agents that `stoa seed` makes, so that a reader can repeat them.
func TestExamplesNameAgentsOfTheSeed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../cmd/stoa/sample/works/works.json")
	require.NoError(t, err)
	type person struct {
		Handle string `json:"handle"`
	}
	var made struct {
		People     []person `json:"people"`
		Neighbours []person `json:"neighbours"`
	}
	require.NoError(t, json.Unmarshal(raw, &made))
	known := map[string]bool{}
	for _, agent := range append(made.People, made.Neighbours...) {
		known[agent.Handle] = true
	}
	text, err := os.ReadFile("operating.md")
	require.NoError(t, err)
	for _, example := range examplesOfAgents {
		found := example.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, example)
		for _, match := range found {
			require.True(t, known[match[1]], "%s is no agent of the seed: %s", match[1], strings.TrimSpace(match[0]))
		}
	}
}

var (
	// bareFiles are files named without their folder, in the code quotes of documents.
	bareFiles = regexp.MustCompile("`([\\w.-]+\\.(?:go|sql|graphql|sh))`")
	// quotedNames are single names in code quotes, declarations the names that a Go or GraphQL file declares.
	quotedNames  = regexp.MustCompile("`([A-Za-z]\\w*)`")
	declarations = regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |[ \t]+|"?)([A-Za-z_]\w*)\b`)
)

// Commands, flags, variables and targets of make are checked in cmd/stoa, which knows them.

// A file that a document of the present names without its folder exists in some folder.
func TestBareFileNames(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for name := range repository(t, func(string) bool { return true }) {
		known[path.Base(name)] = true
	}
	for name, text := range repository(t, isDocument) {
		if name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/decisions/") {
			continue // they describe the past
		}
		for _, found := range bareFiles.FindAllStringSubmatch(text, -1) {
			if !known[found[1]] {
				t.Errorf("%s names %s, and no file has that name", name, found[1])
			}
		}
	}
}

// recipeExamples are names that a recipe has its reader make.
var recipeExamples = map[string]bool{"language": true, "SetNillableLanguage": true, "Mutation": true, "pause": true, "close_task": true}

// Every name in a recipe is declared in a folder that the recipe names.
func TestNamesOfRecipes(t *testing.T) {
	t.Parallel()
	texts := repository(t, isText)
	_, recipes, found := strings.Cut(texts["CONTRIBUTING.md"], "\n## Recipe")
	require.True(t, found)
	for recipe := range strings.SplitSeq(recipes, "\n## Recipe") {
		folders := make(map[string]bool)
		for _, named := range filePaths.FindAllStringSubmatch(recipe, -1) {
			folders[path.Dir(named[1])] = true
		}
		for _, named := range quotedPaths.FindAllStringSubmatch(recipe, -1) {
			folders[strings.TrimSuffix(named[1], "/")] = true
		}
		declared := make(map[string]bool)
		for name, text := range texts {
			if folders[path.Dir(name)] && !isDocument(name) {
				for _, one := range declarations.FindAllStringSubmatch(text, -1) {
					declared[one[1]] = true
				}
			}
		}
		title, _, _ := strings.Cut(recipe, "\n")
		for _, named := range quotedNames.FindAllStringSubmatch(recipe, -1) {
			if !declared[named[1]] && !recipeExamples[named[1]] {
				t.Errorf("CONTRIBUTING.md, recipe%s names %s, which no folder of the recipe declares", title, named[1])
			}
		}
	}
}
