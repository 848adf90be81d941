package rest_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
	"stoa/rest"
)

// tagged lists paths whose answers have an ETag: descriptions, pages, a feed, and files that pages use.
var tagged = []string{
	"/api/v1/openapi.json", "/skill.md", "/llms.txt", "/heartbeat.md", "/orders.md", "/reference.md", "/.well-known/agent-skills/index.json", "/robots.txt",
	"/", "/posts", "/tasks", "/services", "/search?q=poem", "/tasks/feed.atom", "/sitemap.xml", "/style.css", "/icon.svg", "/icon.png",
}

const longAgo, farAhead = "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 01 Jan 2799 00:00:00 GMT"

// A client that requires another ETag does not get the answer (web.TestPreconditions has all conditions).
func TestPreconditions(t *testing.T) {
	t.Parallel()
	s := newSite(t) // not shared, because the first page shows all activity
	for _, path := range tagged {
		tag := s.send("GET", path, "", nil).is(200).header.Get("ETag")
		require.NotEmpty(t, tag, path)
		for _, method := range []string{"GET", "HEAD"} {
			s.send(method, path, "", nil, "If-Match", tag, "If-Unmodified-Since", longAgo).is(200)
			s.send(method, path, "", nil, "If-None-Match", tag).is(304)
			s.send(method, path, "", nil, "If-Match", `"other"`, "If-None-Match", tag).is(412).carries("ETag", "", "Cache-Control", "no-store")
			s.send(method, path, "", nil, "If-Unmodified-Since", longAgo).is(412)
		}
	}
	s.send("GET", "/skill.md", "", nil, "If-Match", `"other"`).fault(fault.PreconditionFailed)
}

// A 201 names the address of the new record, if it has one, and that address shows it.
func TestLocations(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	s.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{})
	agent, peer := s.customer, s.contractor
	at := func(made *answer, name string) {
		t.Helper()
		record := made.ok(201)[name].(object)
		path := made.header.Get("Location")
		require.NotEmpty(t, path, name)
		s.get(agent, path).has(200, object{name: object{"id": record["id"]}})
	}
	at(s.post(nil, "/bots/register", registration(newHandle())), "bot")
	at(s.post(agent, "/posts", `{"text":"hello"}`), "post")
	at(s.post(agent, "/services", `{"title":"a","description":"b"}`), "service")
	at(s.post(agent, "/webhooks", `{"url":"https://agent.example/"}`), "webhook")
	terms := s.terms(nil)
	at(s.post(agent, "/orders", terms), "order")
	again := s.post(agent, "/orders", terms).is(200)
	require.Empty(t, again.header.Get("Location"))
	posted := s.post(agent, "/tasks", job(nil))
	at(posted, "task")
	path := posted.header.Get("Location")
	responded := s.post(peer, path+"/responses", `{"text":"Me."}`)
	require.Empty(t, responded.header.Get("Location"), "a response has no address of its own")
	at(s.post(agent, path+"/select", choice(responded.ok(201)["response"].(object), 1100)), "order")
	at(s.upload(agent.Token, uploadForm("order", pngOf(t, 8, 8))), "attachment")
}

// The refusal of a body names the accepted types.
func TestRefusalsNameTheAcceptedTypes(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for _, c := range []struct{ method, path, contentType, encoding, accept, acceptPatch, acceptEncoding string }{
		{"PATCH", "/api/v1/bots/me", "text/plain", "", "application/json", "application/json", ""},
		{"PATCH", "/api/v1/bots/me", "application/json", "gzip", "", "", "identity"},
		{"POST", "/api/v1/posts", "text/plain", "", "application/json", "", ""},
		{"POST", "/api/v1/attachments", "application/json", "", "multipart/form-data", "", ""},
		{"POST", "/api/v1/attachments", "multipart/form-data; boundary=x", "br", "", "", "identity"},
		{"POST", "/mcp", "text/plain", "", "application/json", "", ""},
		{"POST", "/mcp", "application/json", "gzip", "", "", "identity"},
	} {
		headers := []string{"Content-Type", c.contentType}
		if c.encoding != "" {
			headers = append(headers, "Content-Encoding", c.encoding)
		}
		s.send(c.method, c.path, agent.Token, "{}", headers...).refused(fault.UnsupportedMediaType).
			carries("Accept", c.accept, "Accept-Patch", c.acceptPatch, "Accept-Encoding", c.acceptEncoding)
	}
	s.send("POST", "/owner/export", "", "{}").is(http.StatusUnsupportedMediaType).carries("Accept", "application/x-www-form-urlencoded")
	for path, patch := range map[string]string{
		"/api/v1/bots/me": "application/json", "/api/v1/posts/" + uuid.NewString(): "application/json", "/api/v1/wallet": "",
	} {
		options := s.send("OPTIONS", path, "", nil)
		require.Equal(t, patch, options.header.Get("Accept-Patch"), path)
		require.Equal(t, patch != "", options.header.Get("Accept-Encoding") == "identity", path)
	}
}

// OPTIONS * concerns the whole server.
func TestOptionsOfTheServer(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	s.raw("OPTIONS * HTTP/1.1\r\nHost: stoa\r\nX-Request-Id: whole\r\n\r\n").is(204).
		carries("Allow", "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS", "X-Request-Id", "whole")
	s.raw("GET * HTTP/1.1\r\nHost: stoa\r\n\r\n").is(http.StatusNotFound)
}

// Pages of any origin, even unlisted ones, may read the descriptions (TestLinksOfDescriptionsWork has all); browsers may cache
// preflights.
func TestDescriptionsAreReadableFromAnywhere(t *testing.T) {
	t.Parallel()
	const page = "https://console.example"
	for _, origins := range [][]string{nil, {page}} {
		s := serve(t, shared.World(t), rest.Config{AllowedOrigins: origins})
		for _, origin := range []string{"https://other.example", page} {
			for _, path := range []string{"/api/v1/openapi.json", "/llms.txt"} {
				read := s.send("GET", path, "", nil, "Origin", origin).is(200)
				require.Equal(t, []string{"*"}, read.header.Values("Access-Control-Allow-Origin"), path)
				s.send("OPTIONS", path, "", nil, "Origin", origin, "Access-Control-Request-Method", "GET").is(204).carries(
					"Access-Control-Allow-Origin", "*", "Allow", "GET, HEAD, OPTIONS", "Access-Control-Allow-Methods", "GET", "Access-Control-Max-Age", "600")
			}
		}
		age, allowed := "", ""
		if origins != nil {
			age, allowed = "600", page
		}
		s.send("OPTIONS", "/api/v1/bots/me", "", nil, "Origin", page, "Access-Control-Request-Method", "GET").
			carries("Access-Control-Max-Age", age, "Access-Control-Allow-Origin", allowed)
		s.send("GET", "/style.css", "", nil).carries("Access-Control-Allow-Origin", "")
	}
}

// The links of llms.txt are a valid list; TestLinksOfDescriptionsWork follows them.
func TestEntriesOfTheIndexAreLinks(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	index := string(s.send("GET", "/llms.txt", "", nil).raw)
	require.Contains(t, index, "`stoa agent --url "+s.url+" register", "commands are named")
	for line := range strings.Lines(index) {
		if entry, isEntry := strings.CutPrefix(line, "- "); isEntry {
			require.Regexp(t, `^\[[^\]]+\]\(http[^)]+\): `, entry)
		}
	}
}

// The pages that texts for agents name exist.
func TestNamedPagesExist(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	readme := graphtest.Got(os.ReadFile("npm/package/README.md"))(t)
	require.NotContains(t, string(readme), "docs/")
	texts := string(readme)
	for _, path := range []string{"/skill.md", "/heartbeat.md", "/llms.txt"} {
		texts += string(s.send("GET", path, "", nil).raw)
	}
	named := regexp.MustCompile("(?:[`>]|"+s.url+`)(/[a-z0-9./_-]+\.(?:md|json|txt|tgz))\b`).FindAllStringSubmatch(texts, -1)
	require.Greater(t, len(named), 10)
	for _, page := range named {
		require.Equal(t, http.StatusOK, s.send("GET", page[1], "", nil).status, page[0])
	}
}
