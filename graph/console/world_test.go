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

	"stoa/graph/attachments"
	"stoa/graph/console"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/server"
)

const token = "the-operator-token-of-these-tests-only"

// hostile is a text that an agent may write anywhere: markup, and a character that changes the direction of the text after it.
const hostile = `<script>alert(1)</script>"'><img src=x onerror=y> ` + "a\u202eb"

// world is the operator listener over a world of agents, as a signed-in browser uses it.
type world struct {
	*graphtest.World
	t      testing.TB
	url    string
	cookie string
	// log holds the log lines of the listener.
	log strings.Builder
	// secrets are texts that no page may hold; ids holds an entity of each type.
	secrets []string
	ids     map[string]uuid.UUID
}

func newWorld(t testing.TB, options ...graphtest.Option) *world {
	t.Helper()
	w := &world{World: graphtest.New(t, options...), t: t, ids: map[string]uuid.UUID{}}
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

// form returns the fields of a page's form that posts, as a browser sends them, and its action.
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

// chosen is the value that a select sends.
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

// content is the text below a node.
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
	w.Befriend(one, other)
	hide := func(secrets ...string) { w.secrets = append(w.secrets, secrets...) }
	hide(token, one.Token, other.Token)
	w.Exec("UPDATE bots SET display_name = $1, bio = $1, specialty = $1", hostile)
	envelope := graphtest.Envelope(one, other)
	message := graphtest.Got(w.Messages.SendMessage(one.Ctx, envelope))(w.t)
	hide(*envelope.Ciphertext, *envelope.Nonce)
	for _, kind := range []string{"Task", "Response", "Service", "Feedback", "Reward", "Document", "Mail", "Webhook", "WebhookDelivery", "Invitation", "Order", "Post", "Rating"} {
		w.ids[kind] = uuid.Must(uuid.NewV7())
	}
	w.ids["Bot"], w.ids["Message"] = one.ID, message.Message.ID
	hide("zq-text-of-the-response", "zq-title-of-the-order", "zq-description-of-the-order", "zq-the-result", "zq-the-dispute", "zq-the-refund", "zq-secret-path", "ada.lovelace@", "zq-code-hash",
		"secret name.png")
	w.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text) VALUES ($1, stoa_now(), stoa_now(), $2, 'update', 'public', $3, $3)`,
		w.ids["Post"], one.ID, hostile)
	w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $3, stoa_now() + interval '1 day', 100, 10, 110, 1000)`, w.ids["Task"], one.ID, hostile)
	w.Exec(`INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor) VALUES ($1, stoa_now(), $2, $3, 'zq-text-of-the-response', 90, 99)`,
		w.ids["Response"], w.ids["Task"], other.ID)
	w.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description) VALUES ($1, stoa_now(), stoa_now(), $2, $3, $3)`, w.ids["Service"], one.ID, hostile)
	w.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text) VALUES ($1, stoa_now(), $2, 'idea', $3)`, w.ids["Feedback"], one.ID, hostile)
	w.Exec(`INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES ($1, stoa_now(), $2, 'avatar', 100000)`, w.ids["Reward"], one.ID)
	w.Exec(`INSERT INTO documents (id, created_at, key, title, version, url, text, sha256) VALUES ($1, stoa_now(), 'terms', 'Terms', '1', '', $2, 'of it')`, w.ids["Document"], hostile)
	w.Exec(`INSERT INTO invitations (id, created_at, code_hash, uses, note) VALUES ($1, stoa_now(), 'zq-code-hash', 1, $2)`, w.ids["Invitation"], hostile)
	w.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, bot_id, attempts, last_error) VALUES ($1, stoa_now(), 'test', 'ada.lovelace@example.org',
		'a***@example.org', $2, 1, $3)`, w.ids["Mail"], one.ID, hostile)
	w.Exec(`INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, state, last_failure_error)
		VALUES ($1, stoa_now(), stoa_now(), $2, 'https://agent.example/zq-secret-path', 'agent.example', '["order.changed"]', 'v1a', 'failing', $3)`, w.ids["Webhook"], one.ID, hostile)
	w.Exec(`INSERT INTO webhook_deliveries (id, created_at, webhook_id, event_id, kind, attempt) VALUES ($1, stoa_now(), $2, $1, 'order.changed', 1)`,
		w.ids["WebhookDelivery"], w.ids["Webhook"])
	w.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description, deadline,
		amount_minor, fee_minor, total_minor, fee_bps, result_text, dispute_reason, refund_reason)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'disputed', 1, 'zq-title-of-the-order', 'zq-description-of-the-order', stoa_now(), 100, 10, 110, 1000,
		'zq-the-result', 'zq-the-dispute', 'zq-the-refund')`, w.ids["Order"], one.ID, other.ID)
	w.Exec(`INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
		VALUES ($1, stoa_now(), $2, 'dispute', $3, 'disputed', 1, 'zq-the-dispute')`, uuid.Must(uuid.NewV7()), w.ids["Order"], one.ID)
	w.Exec(`INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars, text) VALUES ($1, stoa_now(), $2, $3, $4, 4, $5)`,
		w.ids["Rating"], w.ids["Order"], one.ID, other.ID, hostile)
	w.ids["Attachment"] = w.File(one, attachments.Portfolio)
	inOrder := w.File(one, attachments.Order)
	w.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", inOrder, w.ids["Order"])
}
