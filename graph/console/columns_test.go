package console_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// heads are the headings of the columns of a list.
func heads(root *html.Node) (all []string) {
	for n := range root.Descendants() {
		if n.Data == "th" && attribute(n, "scope") == "col" {
			all = append(all, content(n))
		}
	}
	return all
}

// The address of a list chooses its columns; its pages, its filters and its exports keep them.
func TestColumnsOfAList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'Service ' || n, 'text' FROM generate_series(1, 40) n`, agent.ID)
	require.Equal(t, []string{"Title", "Agent", "Created", "Deleted"}, heads(w.page("/services")))
	page := w.page("/services?columns=updatedAt,bot&q=Service")
	require.Equal(t, []string{"Title", "Agent", "Updated"}, heads(page))
	_, _, older := list(page)
	require.Contains(t, older, "columns=bot%2CupdatedAt")
	require.Equal(t, []string{"Title", "Agent", "Updated"}, heads(w.page(older)))
	text := w.get("/services?columns=updatedAt,bot&q=Service").text
	require.Contains(t, text, `<input id="c-updatedAt" name="columns" type="checkbox" value="updatedAt" checked>`)
	require.Contains(t, text, `<input id="c-createdAt" name="columns" type="checkbox" value="createdAt">`)
	require.Contains(t, text, `<a href="/services?columns=bot%2CupdatedAt">Show all</a>`)

	// The form sends each box; the address that stays says it once.
	sent := w.get("/services?q=&columns=bot&columns=updatedAt&sort=CREATED_AT")
	require.Equal(t, http.StatusSeeOther, sent.StatusCode)
	require.Equal(t, "/services?columns=bot%2CupdatedAt&sort=CREATED_AT", sent.Header.Get("Location"))
	usual := w.get("/services?q=&columns=bot&columns=createdAt&columns=deletedAt")
	require.Equal(t, "/services", usual.Header.Get("Location"))

	rows, err := csv.NewReader(strings.NewReader(w.get("/services?format=csv&columns=bot,updatedAt").text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"id", "title", "bot", "updatedAt"}, rows[0])
	require.Len(t, rows, 41)
	var objects []map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.get("/services?format=json&columns=updatedAt").text), &objects))
	require.Len(t, objects[0], 3, "its id, its name and the column")

	unknown := w.get("/services?columns=nothing,%3Cb%3E,bot,description%20")
	require.Contains(t, unknown.text, "This list has no column <bdi>nothing</bdi>, <bdi>&lt;b&gt;</bdi>")
	require.Equal(t, []string{"Title", "Agent"}, heads(w.parse(unknown.text)))
	accessible(t, "/services", w.parse(unknown.text))
	require.Equal(t, []string{"Title", "Agent", "Created", "Deleted"}, heads(w.page("/services?columns=nothing")))
}

// Every column of every list can be shown.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	for _, path := range []string{
		"/agents", "/contacts", "/messages", "/feedback", "/reports", "/posts", "/tasks", "/responses", "/services", "/orders", "/ratings", "/wallets", "/ledger",
		"/rewards", "/files", "/events", "/mails", "/webhooks", "/deliveries", "/invitations", "/documents", "/audit",
	} {
		var names []string
		for n := range w.page(path).Descendants() {
			if attribute(n, "name") == "columns" {
				names = append(names, attribute(n, "value"))
			}
		}
		require.NotEmpty(t, names, path)
		page := w.get(path + "?columns=" + strings.Join(names, ","))
		require.Equal(t, http.StatusOK, page.StatusCode, "%s: %s", path, page.text)
		require.NotContains(t, page.text, "has no column", path)
		for _, secret := range w.secrets {
			require.NotContains(t, page.text, secret, path)
		}
	}
}
