package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/graph/console"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/server"
)

const token = "the-operator-token-of-these-tests-only"

// hostile is a text that an agent may write anywhere: markup, and a character that changes the direction of the following text.
const hostile = `<script>alert(1)</script>"'><img src=x onerror=y> ` + "a\u202eb"

// world is the operator listener over a world of agents, as a signed-in browser uses it.
type world struct {
	*graphtest.World
	t      testing.TB
	url    string
	cookie string
	ask    server.Ask
	// log holds the log lines of the listener.
	log strings.Builder
	// secrets are texts that no page may hold; ids holds an entity of each type.
	secrets []string
	ids     map[string]uuid.UUID
}

func newWorld(t testing.TB, options ...graphtest.Option) *world {
	t.Helper()
	w := &world{World: graphtest.New(t, options...), t: t}
	w.Operator.BackUp = func(context.Context) (*operator.Backup, error) {
		return &operator.Backup{Name: "20261123T120000Z", Files: 3, SizeBytes: 4096}, nil
	}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	figures := server.Mount{Path: "/figures", Title: "Figures", Text: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, `{"three":3}`)
	})}
	listener := httptest.NewServer(server.New(server.Config{
		Graph: w.Graph, Logger: log, OperatorToken: token, Stylesheet: console.Stylesheet(), Mounts: []server.Mount{figures},
		Pages: func(ask server.Ask) http.Handler {
			w.ask = ask
			return console.New(console.Config{
				Ask: ask, Logger: log, Public: func() string { return "https://stoa.example" }, Tools: []server.Mount{{Path: "/jobs", Title: "Jobs"}, figures},
				AuditExport: w.Operator.AuditExport, Preview: w.Attachments.AttachmentPreview,
			})
		},
	}))
	t.Cleanup(listener.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	w.url = listener.URL
	answer := w.post("/sign-in", url.Values{"token": {token}, "name": {"Ada"}})
	require.Equal(t, http.StatusSeeOther, answer.StatusCode, answer.text)
	w.cookie = answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
	return w
}

// response is an answer read to its end.
type response struct {
	*http.Response
	text string
}

// send makes a request; headers are names and values in turn. Redirects are not followed.
func (w *world) send(method, path, body string, headers ...string) response {
	request := graphtest.Got(http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body)))(w.t)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(w.t, err)
	defer answer.Body.Close()
	return response{answer, string(graphtest.Got(io.ReadAll(answer.Body))(w.t))}
}

// get opens a page in the browser.
func (w *world) get(path string) response {
	return w.send(http.MethodGet, path, "", "Cookie", w.cookie, "Accept", "text/html")
}

// post sends a form from a page of the listener.
func (w *world) post(path string, form url.Values, headers ...string) response {
	return w.send(http.MethodPost, path, form.Encode(), append([]string{
		"Cookie", w.cookie, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin",
	}, headers...)...)
}

// page opens a page that must be there.
func (w *world) page(path string) *html.Node {
	answer := w.get(path)
	require.Equal(w.t, http.StatusOK, answer.StatusCode, "%s: %s", path, answer.text)
	return w.parse(answer.text)
}

func (w *world) parse(text string) *html.Node {
	return graphtest.Got(html.Parse(strings.NewReader(text)))(w.t)
}

// form returns the fields of a page's POST form, as a browser sends them, and its action.
func (w *world) form(root *html.Node) (action string, fields url.Values) {
	fields = url.Values{}
	for n := range root.Descendants() {
		if n.Data != "form" || attribute(n, "method") != "post" || attribute(n, "action") == "/sign-out" {
			continue
		}
		action = attribute(n, "action")
		for f := range n.Descendants() {
			name := attribute(f, "name")
			switch {
			case f.Type != html.ElementNode || name == "":
			case f.Data == "select":
				fields.Set(name, chosen(f))
			case attribute(f, "type") == "checkbox":
				if fields[name] == nil {
					fields[name] = []string{}
				}
				if has(f, "checked") {
					fields[name] = append(fields[name], attribute(f, "value"))
				}
			case f.Data == "textarea":
				fields.Set(name, strings.TrimPrefix(content(f), "\n"))
			default:
				fields.Set(name, attribute(f, "value"))
			}
		}
	}
	require.NotEmpty(w.t, action)
	return action, fields
}

// do fills in the form at a path, with names and values in turn, and sends it.
func (w *world) do(path string, values ...string) response {
	action, fields := w.form(w.page(path))
	for i := 0; i+1 < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	return w.post(action, fields)
}

// shows requires that a page contains texts.
func (w *world) shows(page string, texts ...string) {
	for _, text := range texts {
		require.Contains(w.t, page, text)
	}
}

// chosen returns the value that a select sends.
func chosen(n *html.Node) string {
	first, seen := "", false
	for o := range n.Descendants() {
		if o.Data != "option" {
			continue
		}
		if has(o, "selected") {
			return attribute(o, "value")
		}
		if !seen {
			first, seen = attribute(o, "value"), true
		}
	}
	return first
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// content returns the text below a node.
func content(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

// fill makes an entity of each type, with texts that no page may show.
func (w *world) fill() {
	one, other := w.Agent(), w.Agent()
	w.Exec("UPDATE bots SET display_name = $1, bio = $1, specialty = $1", hostile)
	w.ids = w.Everything(one, other, hostile)
	w.secrets = []string{"zq-secret", "secret name.png", token, one.Token, other.Token}
}
