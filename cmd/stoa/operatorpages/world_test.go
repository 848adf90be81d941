package operatorpages_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/cmd/stoa/operatorpages"
	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/server"
)

const token = "the-operator-token-of-these-tests-only"

// hostile is what an agent may write anywhere: markup, and a character that turns the direction of what follows.
const hostile = `<script>alert(1)</script>"'><img src=x onerror=y> ` + "a\u202eb"

// desk is the operator listener over one world, as a signed-in browser meets it.
type desk struct {
	*graphtest.World
	t      testing.TB
	url    string
	cookie string
	log    *lines
	// secrets are texts that no page may hold; ids is an entity of each type.
	secrets []string
	ids     map[string]uuid.UUID
}

// lines is what the listener logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func newDesk(t testing.TB, options ...graphtest.Option) *desk {
	t.Helper()
	d := &desk{World: graphtest.New(t, options...), t: t, log: new(lines), ids: map[string]uuid.UUID{}}
	d.Operator.BackUp = func(context.Context) (*operator.Copy, error) {
		return &operator.Copy{Name: "20261123T120000Z", Files: 3, SizeBytes: 4096}, nil
	}
	log := slog.New(slog.NewTextHandler(d.log, nil))
	listener := httptest.NewServer(server.New(server.Config{
		Graph: d.Graph, Logger: log, OperatorToken: token, Stylesheet: operatorpages.Stylesheet(),
		Pages: func(ask server.Ask) http.Handler {
			return operatorpages.New(operatorpages.Config{Ask: ask, Logger: log, Tools: []server.Mount{{Path: "/jobs", Title: "Jobs"}}})
		},
	}))
	t.Cleanup(listener.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(d.log.text.String())
		}
	})
	d.url = listener.URL
	answer := d.post("/sign-in", url.Values{"token": {token}, "name": {"Ada"}})
	require.Equal(t, http.StatusSeeOther, answer.StatusCode, answer.text)
	d.cookie = answer.Cookies()[0].Name + "=" + answer.Cookies()[0].Value
	return d
}

// said is an answer read to its end.
type said struct {
	*http.Response
	text string
}

// send makes a request; headers are names and values in turn. Redirects are not followed.
func (d *desk) send(method, path, body string, headers ...string) said {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	require.NoError(d.t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(d.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(d.t, err)
	return said{answer, string(raw)}
}

// get opens a page in the browser.
func (d *desk) get(path string) said {
	d.t.Helper()
	return d.send(http.MethodGet, path, "", "Cookie", d.cookie, "Accept", "text/html")
}

// post sends a form from a page of the listener.
func (d *desk) post(path string, form url.Values, headers ...string) said {
	d.t.Helper()
	return d.send(http.MethodPost, path, form.Encode(), append([]string{
		"Cookie", d.cookie, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin",
	}, headers...)...)
}

// page opens a page that must be there.
func (d *desk) page(path string) *html.Node {
	d.t.Helper()
	answer := d.get(path)
	require.Equal(d.t, http.StatusOK, answer.StatusCode, "%s: %s", path, answer.text)
	return d.parse(answer.text)
}

func (d *desk) parse(text string) *html.Node {
	d.t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(d.t, err)
	return root
}

// form reads the fields of the form on a page that posts, as a browser would send them, and where it goes.
func (d *desk) form(root *html.Node) (action string, fields url.Values) {
	d.t.Helper()
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
			case f.Data == "textarea":
				fields.Set(name, strings.TrimPrefix(content(f), "\n"))
			default:
				fields.Set(name, attribute(f, "value"))
			}
		}
	}
	require.NotEmpty(d.t, action)
	return action, fields
}

// chosen is the value that a select sends.
func chosen(n *html.Node) string {
	first, seen := "", false
	for o := range n.Descendants() {
		if o.Data != "option" {
			continue
		}
		if !seen {
			first, seen = attribute(o, "value"), true
		}
		for _, a := range o.Attr {
			if a.Key == "selected" {
				return attribute(o, "value")
			}
		}
	}
	return first
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

// sow makes an entity of each type, with texts that no page may show.
func (d *desk) sow() {
	d.t.Helper()
	one, other := d.Agent(), d.Agent()
	d.Befriend(one, other)
	hide := func(secrets ...string) { d.secrets = append(d.secrets, secrets...) }
	hide(token, one.Token, other.Token)
	d.Exec("UPDATE bots SET display_name = $1, bio = $1, specialty = $1", hostile)
	envelope := graphtest.Envelope(one, other)
	message, err := d.Messages.SendMessage(one.Ctx, envelope)
	require.NoError(d.t, err)
	hide(*envelope.Ciphertext, *envelope.Nonce)
	for _, kind := range []string{"Task", "Response", "Service", "Feedback", "Reward", "Document", "Mail", "Webhook", "WebhookDelivery", "Invitation", "Order", "Post", "Rating"} {
		d.ids[kind] = uuid.Must(uuid.NewV7())
	}
	d.ids["Bot"], d.ids["Message"] = one.ID, message.Message.ID
	hide("zq-text-of-the-response", "zq-title-of-the-order", "zq-description-of-the-order", "zq-the-result", "zq-the-dispute", "zq-the-refund", "zq-secret-path", "ada.lovelace@", "zq-code-hash",
		"secret name.png")
	d.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text) VALUES ($1, stoa_now(), stoa_now(), $2, 'update', 'public', $3, $3)`,
		d.ids["Post"], one.ID, hostile)
	d.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $3, stoa_now() + interval '1 day', 100, 10, 110, 1000)`, d.ids["Task"], one.ID, hostile)
	d.Exec(`INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor) VALUES ($1, stoa_now(), $2, $3, 'zq-text-of-the-response', 90, 99)`,
		d.ids["Response"], d.ids["Task"], other.ID)
	d.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description) VALUES ($1, stoa_now(), stoa_now(), $2, $3, $3)`, d.ids["Service"], one.ID, hostile)
	d.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text) VALUES ($1, stoa_now(), $2, 'idea', $3)`, d.ids["Feedback"], one.ID, hostile)
	d.Exec(`INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES ($1, stoa_now(), $2, 'avatar', 100000)`, d.ids["Reward"], one.ID)
	d.Exec(`INSERT INTO documents (id, created_at, key, title, version, url, text, sha256) VALUES ($1, stoa_now(), 'terms', 'Terms', '1', '', $2, 'of it')`, d.ids["Document"], hostile)
	d.Exec(`INSERT INTO invitations (id, created_at, code_hash, uses, note) VALUES ($1, stoa_now(), 'zq-code-hash', 1, $2)`, d.ids["Invitation"], hostile)
	d.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, bot_id, attempts, last_error) VALUES ($1, stoa_now(), 'test', 'ada.lovelace@example.org',
		'a***@example.org', $2, 1, $3)`, d.ids["Mail"], one.ID, hostile)
	d.Exec(`INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, state, last_failure_error)
		VALUES ($1, stoa_now(), stoa_now(), $2, 'https://agent.example/zq-secret-path', 'agent.example', '["order.changed"]', 'v1a', 'failing', $3)`, d.ids["Webhook"], one.ID, hostile)
	d.Exec(`INSERT INTO webhook_deliveries (id, created_at, webhook_id, event_id, kind, attempt) VALUES ($1, stoa_now(), $2, $1, 'order.changed', 1)`,
		d.ids["WebhookDelivery"], d.ids["Webhook"])
	d.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description, deadline,
		amount_minor, fee_minor, total_minor, fee_bps, result_text, dispute_reason, refund_reason)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'disputed', 1, 'zq-title-of-the-order', 'zq-description-of-the-order', stoa_now(), 100, 10, 110, 1000,
		'zq-the-result', 'zq-the-dispute', 'zq-the-refund')`, d.ids["Order"], one.ID, other.ID)
	d.Exec(`INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
		VALUES ($1, stoa_now(), $2, 'dispute', $3, 'disputed', 1, 'zq-the-dispute')`, uuid.Must(uuid.NewV7()), d.ids["Order"], one.ID)
	d.Exec(`INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars, text) VALUES ($1, stoa_now(), $2, $3, $4, 4, $5)`,
		d.ids["Rating"], d.ids["Order"], one.ID, other.ID, hostile)
	d.ids["Attachment"] = d.File(one, attachments.Portfolio)
	inOrder := d.File(one, attachments.Order)
	d.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", inOrder, d.ids["Order"])
}
