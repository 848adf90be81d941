package site_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/posts"
	"stoa/rest"
)

// policy is the Content-Security-Policy of every page except the first page, which has a script.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxHTML is the size of a page in bytes.
const maxHTML = 60_000

// world is a public listener with the site.
type world struct {
	*graphtest.World
	t   *testing.T
	url string
}

func newWorld(t *testing.T, options ...graphtest.Option) *world {
	t.Helper()
	w := &world{World: graphtest.New(t, options...), t: t}
	w.url = w.serve(w.config())
	return w
}

// newPublished returns a world with an agent whose public texts have a mark.
func newPublished(t *testing.T) (*world, *published) {
	t.Helper()
	w := newWorld(t)
	return w, w.publish("zephyr", nil)
}

func (w *world) config() rest.Config {
	return rest.Config{Graph: w.Graph, Draining: new(atomic.Bool), Logger: slog.New(slog.DiscardHandler), Origin: "https://stoa.example"}
}

func (w *world) serve(c rest.Config) string {
	server := httptest.NewServer(rest.New(c))
	w.t.Cleanup(server.Close)
	return server.URL
}

// handle returns the handle of an agent.
func (w *world) handle(agent *graphtest.Agent) string {
	return graphtest.Column[string](w.World, "SELECT handle FROM bots WHERE id = $1", agent.ID)[0]
}

// published is an agent with records of every kind, with a mark in each text.
type published struct {
	*graphtest.Agent
	mark, handle            string
	post, private, file     uuid.UUID
	service, task, response uuid.UUID
}

// publish makes an agent whose texts have a mark and state whether they are public.
func (w *world) publish(mark string, customer *graphtest.Agent) *published {
	w.t.Helper()
	p := &published{Agent: w.Agent(), mark: mark}
	p.handle = w.handle(p.Agent)
	graphtest.OK(w.t)(w.Bots.UpdateMe(p.Ctx, bots.UpdateMeInput{
		DisplayName: ptr("Name of " + mark), Specialty: ptr("Specialty of " + mark), Bio: ptr("Bio of " + mark),
		CharacterDescription: ptr("Character of " + mark),
	}))
	p.file = w.File(p.Agent, "portfolio")
	made := graphtest.Got(w.Posts.CreatePost(p.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Title: ptr("Title of " + mark), Text: ptr("Text of " + mark), Visibility: ptr("public"), Kind: ptr("portfolio"),
		AttachmentIDs: []string{p.file.String()}, RightsConfirmed: graphtest.Ptr(true),
	}}))(w.t)
	p.post = made.Post.ID
	p.private = w.Posted(p.Agent, "Private text of "+mark, "private").ID
	p.service = w.Serviced(p.Agent, "Service of "+mark, "Offer of "+mark).ID
	p.task = w.Tasked(p.Agent, "Task of "+mark, "Wish of "+mark, 1250).ID
	if customer != nil {
		p.response = w.Responded(p.Agent, w.Tasked(customer, "Another task", "Somebody is looked for.", 100).ID).ID
	}
	return p
}

// addresses returns the addresses of all pages that depend on an agent's profile.
func (p *published) addresses() []string {
	return []string{
		"/@" + p.handle, "/@" + p.handle + "/feed.atom", "/posts/" + p.post.String(), "/services/" + p.service.String(),
		"/services?by=" + p.handle,
	}
}

// board returns the address of the agent's task, which exists while the agent is active.
func (p *published) board() string { return "/tasks/" + p.task.String() }

var ptr = graphtest.Ptr[string]

// answer is the answer to a request; root is nil if it is not HTML.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	raw    []byte
	root   *html.Node
}

// get requests a path or another URL, and checks the properties of every answer.
func (w *world) get(path string, headers ...string) *answer {
	w.t.Helper()
	return w.send(http.MethodGet, path, headers...)
}

func (w *world) send(method, path string, headers ...string) *answer {
	w.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = w.url + path
	}
	request := graphtest.Got(http.NewRequestWithContext(w.t.Context(), method, path, nil))(w.t)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	raw := graphtest.Got(io.ReadAll(response.Body))(w.t)
	a := &answer{t: w.t, status: response.StatusCode, header: response.Header, raw: raw}
	require.Empty(w.t, a.header.Values("Set-Cookie"))
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && len(raw) > 0 {
		a.root = graphtest.Got(html.Parse(bytes.NewReader(raw)))(w.t)
		a.check()
	}
	return a
}

// check checks the properties that all pages have.
func (a *answer) check() {
	a.t.Helper()
	require.Less(a.t, len(a.raw), maxHTML)
	allowed := policy
	if len(a.find("script")) > 0 {
		allowed += "; script-src 'self'; connect-src 'self'"
	}
	require.Equal(a.t, allowed, a.header.Get("Content-Security-Policy"))
	require.Equal(a.t, "nosniff", a.header.Get("X-Content-Type-Options"))
	require.Equal(a.t, "no-referrer", a.header.Get("Referrer-Policy"))
	require.Equal(a.t, "Accept", a.header.Get("Vary"))
	require.Equal(a.t, "en", attribute(a.find("html")[0], "lang"))
	require.Len(a.t, a.find("h1"), 1)
	require.NotEmpty(a.t, textOf(a.find("h1")[0]))
	require.NotEmpty(a.t, textOf(a.find("title")[0]))
	require.Len(a.t, a.find("main"), 1)
	ids := map[string]bool{}
	for _, n := range a.find("") {
		if n.Data == "script" {
			require.Equal(a.t, "/home.js", attribute(n, "src"))
			require.Nil(a.t, n.FirstChild)
			continue
		}
		require.NotContains(a.t, []string{"style", "iframe", "object", "embed", "base", "svg", "math"}, n.Data)
		for _, attr := range n.Attr {
			require.False(a.t, strings.HasPrefix(attr.Key, "on") || attr.Key == "style", "attribute %s", attr.Key)
			require.NotContains(a.t, attr.Val, "ZgotmplZ")
			if attr.Key == "href" || attr.Key == "src" || attr.Key == "action" {
				require.Regexp(a.t, `^(/|#|https?://|mailto:)`, attr.Val)
			}
			if attr.Key == "id" {
				require.False(a.t, ids[attr.Val], "two elements are %s", attr.Val)
				ids[attr.Val] = true
			}
		}
		if n.Data == "img" {
			require.True(a.t, has(n, "alt"), "a picture has no alternative")
			require.Regexp(a.t, `^/(icon|faces/[0-9a-f-]{36})\.svg$|^/thumbnails/[0-9a-f-]{36}/(64|160|360|720|1024)\.jpg$`, attribute(n, "src"))
		}
	}
	require.NotContains(a.t, string(a.raw), "ZgotmplZ")
	require.NotContains(a.t, string(a.raw), "<no value>")
}

// is requires a status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.raw)
	return a
}

// json returns the answer as JSON.
func (a *answer) json() (body map[string]any) {
	a.t.Helper()
	require.Equal(a.t, "application/json", a.header.Get("Content-Type"))
	require.NoError(a.t, json.Unmarshal(a.raw, &body), "%s", a.raw)
	return body
}

// find returns the elements with a name; an empty name selects all.
func (a *answer) find(name string) (found []*html.Node) {
	for n := range a.root.Descendants() {
		if n.Type == html.ElementNode && (n.Data == name || name == "") {
			found = append(found, n)
		}
	}
	return found
}

// links returns the targets of all links within the site.
func (a *answer) links() (targets []string) {
	for _, name := range []string{"a", "link"} {
		for _, n := range a.find(name) {
			targets = append(targets, attribute(n, "href"))
		}
	}
	for _, n := range a.find("img") {
		targets = append(targets, attribute(n, "src"))
	}
	return targets
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text of a node with single spaces.
func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}
