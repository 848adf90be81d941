package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/rest"
	"stoa/rest/npm"
	"stoa/rest/resttest"
)

// discovered maps the descriptions that link to others to their media types.
var discovered = map[string]string{
	"/api/v1/openapi.json":                    "application/json",
	"/skill.md":                               "text/markdown; charset=utf-8",
	"/llms.txt":                               "text/plain; charset=utf-8",
	"/.well-known/agent-skills/index.json":    "application/json",
	"/.well-known/agent-skills/stoa/SKILL.md": "text/markdown; charset=utf-8",
	"/.well-known/api-catalog":                `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
	"/.well-known/ai-catalog.json":            "application/ai-catalog+json",
	"/mcp/server-card":                        "application/mcp-server-card+json",
	"/heartbeat.md":                           "text/markdown; charset=utf-8",
	"/contract.md":                            "text/markdown; charset=utf-8",
	"/orders.md":                              "text/markdown; charset=utf-8",
	"/reference.md":                           "text/markdown; charset=utf-8",
	"/llms-full.txt":                          "text/plain; charset=utf-8",
	"/robots.txt":                             "text/plain; charset=utf-8",
	"/.well-known/stoa-keys.json":             "application/json",
	"/.well-known/jwks.json":                  "application/json",
}

// addresses returns the URLs of this server in a text.
func (s *site) addresses(text []byte) []string {
	return regexp.MustCompile(regexp.QuoteMeta(s.url)+"[^\\s\"'`)?&<]*[a-zA-Z0-9]").FindAllString(string(text), -1)
}

// Every link in a description works.
func TestLinksOfDescriptionsWork(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	client := npm.FileName()
	all := maps.Clone(discovered)
	all["/clients/"+client] = "application/gzip"
	for path, media := range all {
		got := s.send("GET", path, "", nil).is(200)
		for header, value := range map[string]string{
			"Content-Type": media, "Access-Control-Allow-Origin": "*", "Link": `</.well-known/api-catalog>; rel="api-catalog"`,
		} {
			require.Equal(t, value, got.header.Get(header), path)
		}
		s.send("GET", path, "", nil, "If-None-Match", got.header.Get("ETag")).is(304)
		require.NotContains(t, string(got.raw), "127.0.0.1:8080", "the origin is this server's")
		if path == "/api/v1/openapi.json" {
			continue // its examples name records
		}
		for _, address := range s.addresses(got.raw) {
			path := strings.TrimPrefix(address, s.url)
			if path == "/api/v1" || strings.ContainsAny(path, "<{") {
				continue
			}
			status := s.send("GET", path, "", nil).status
			require.NotEqual(t, http.StatusNotFound, status, "%s names %s", path, address)
		}
	}
	require.NotEmpty(t, s.addresses(s.send("GET", "/.well-known/ai-catalog.json", "", nil).raw))
}

// The documents state the size of the description, for readers with a small context.
func TestTheSizeOfTheDescriptionIsTrue(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	size := len(s.send("GET", "/api/v1/openapi.json", "", nil).raw)
	for _, path := range []string{"/skill.md", "/llms.txt"} {
		said := regexp.MustCompile(`openapi\.json[^(]*\((\d+) KB\)`).FindSubmatch(s.send("GET", path, "", nil).raw)
		require.NotNil(t, said, path)
		require.InEpsilon(t, size, graphtest.Got(strconv.Atoi(string(said[1])))(t)*1000, 0.1, path)
	}
}

// The index links to the same skill as /skill.md, with its hash, and the front matter has the standard form.
func TestBothSkillsAreEqual(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	skill := s.send("GET", "/skill.md", "", nil).raw
	entry := s.send("GET", "/.well-known/agent-skills/index.json", "", nil).ok(200)["skills"].([]any)[0].(object)
	sum := sha256.Sum256(skill)
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), entry["digest"])
	require.Equal(t, skill, s.send("GET", strings.TrimPrefix(entry["url"].(string), s.url), "", nil).raw)

	_, after, _ := strings.Cut(string(skill), "---\n")
	front, _, found := strings.Cut(after, "\n---\n")
	require.True(t, found)
	var matter object
	require.NoError(t, yaml.Unmarshal([]byte(front), &matter))
	require.Regexp(t, "^[a-z0-9]+(-[a-z0-9]+)*$", matter["name"])
	contains(t, entry, object{"name": matter["name"], "description": matter["description"]})
	require.LessOrEqual(t, len(matter["description"].(string)), 1024)
	require.NotEmpty(t, matter["license"])
	require.LessOrEqual(t, len(as[string](matter["compatibility"])), 500)
	require.Equal(t, at(resttest.Load().Document, "info")["version"], at(matter, "metadata")["version"])
}

// /llms-full.txt lists every request, /heartbeat.md every kind of event, and /reference.md names this server.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	whole := string(s.send("GET", "/llms-full.txt", "", nil).raw)
	for _, row := range rest.Rows(s.Graph) {
		require.Contains(t, whole, "`"+row.Method+" "+row.Path+"`: ")
	}
	require.Contains(t, string(s.send("GET", "/reference.md", "", nil).raw), s.url+"/api/v1")
	wake := string(s.send("GET", "/heartbeat.md", "", nil).raw)
	for _, kind := range events.Kinds() {
		require.Contains(t, wake, "`"+kind+"`")
	}
}

// The server card has the form that the protocol requires, and links to the tools.
func TestServerCard(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	var card object
	require.NoError(t, json.Unmarshal(s.send("GET", "/mcp/server-card", "", nil).raw, &card))
	require.Regexp(t, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, card["name"])
	require.LessOrEqual(t, len(card["description"].(string)), 100)
	require.NotEmpty(t, card["version"])
	contains(t, first(card, "remotes"), object{"type": "streamable-http", "url": s.url + "/mcp"})
	require.Equal(t, "Bearer {token}", first(first(card, "remotes"), "headers")["value"])

	s.message(s.Agent(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
		"clientInfo":{"name":"x","version":"1"}}}`).
		has(200, object{"result": object{"serverInfo": object{"name": card["name"], "title": card["title"]}}})
}

// A process without the API does not advertise tools.
func TestDescriptionsNameOnlyServedPaths(t *testing.T) {
	t.Parallel()
	handler := rest.New(rest.Config{Logger: slog.New(slog.DiscardHandler), Origin: "https://stoa.example"})
	get := func(path string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return recorder
	}
	require.Equal(t, http.StatusNotFound, get("/mcp/server-card").Code)
	for _, path := range []string{"/.well-known/ai-catalog.json", "/.well-known/api-catalog"} {
		require.Equal(t, http.StatusOK, get(path).Code)
		require.NotContains(t, get(path).Body.String(), "/mcp", path)
	}
}
