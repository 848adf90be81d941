package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/rest"
)

// An answer carries the X-Request-Id of its request if that is well-formed; resttest checks the headers of every answer.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	for sent, kept := range map[string]bool{"abc.DEF_1-2": true, "with space": false, strings.Repeat("x", 129): false, "semi;colon": false} {
		require.Equal(t, kept, sent == s.send("GET", "/healthz", "", nil, "X-Request-Id", sent).header.Get("X-Request-Id"), sent)
	}
}

func TestUnknownPathsAreNotFoundAndNeverRedirected(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	for _, path := range []string{
		"/api", "/api/v1", "/api/v1/", "/api/v1/bots/me/", "/api/v1//bots/me", "//api/v1/bots/me", "/api/v1/./bots/me",
		"/api/v1/bots/../bots/me", "/api/v1/bots/%2e%2e/bots/me", "/API/v1/bots/me", "/healthz/", "/api/v1/tokens",
	} {
		require.Contains(t, string(s.send("GET", path, "", nil).refused(fault.NotFound).raw), "no such path")
	}
}

// TestRefusalsOfEveryRoute has an unknown method on every path.
func TestMethods(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for _, method := range []string{"TRACE", "PROPFIND", "UNHEARD"} {
		s.send(method, "/api/v1/wallet", agent.Token, nil).refused(fault.MethodNotAllowed).carries("Allow", "GET, HEAD, OPTIONS")
		s.send(method, "/api/v1/nowhere", "", nil).fault(fault.NotFound)
	}
	s.send("OPTIONS", "/api/v1/tokens/rotate", "", nil).is(204).carries("Allow", "POST, OPTIONS")
	head := s.send("HEAD", "/api/v1/bots/me", agent.Token, nil).is(200)
	require.Empty(t, head.raw)
	require.NotEmpty(t, head.header.Get("Content-Length"))
}

// Only the origins that the operator lists get CORS headers; a preflight is answered like any other OPTIONS.
func TestOrigins(t *testing.T) {
	t.Parallel()
	s := serve(t, shared.World(t), rest.Config{AllowedOrigins: []string{"https://console.example"}})
	agent := s.Agent()
	const page = "https://console.example"
	for origin, methods := range map[string]string{page: "PATCH", "https://other.example": "", "null": ""} {
		told := map[bool]string{true: origin}[methods != ""]
		s.send("OPTIONS", "/api/v1/bots/me", "", nil, "Origin", origin, "Access-Control-Request-Method", "PATCH",
			"Access-Control-Request-Headers", "authorization,content-type").is(204).
			carries("Allow", "GET, HEAD, PATCH, OPTIONS", "Access-Control-Allow-Origin", told, "Access-Control-Allow-Methods", methods)
		s.send("GET", "/api/v1/bots/me", agent.Token, nil, "Origin", origin).is(200).
			carries("Access-Control-Allow-Origin", told, "Access-Control-Allow-Credentials", "")
	}
	exposed := s.send("GET", "/api/v1/bots/me", agent.Token, nil, "Origin", page).header.Get("Access-Control-Expose-Headers")
	for _, name := range []string{
		"ETag", "Content-Range", "Content-Disposition", "X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After",
		"Idempotent-Replayed", "Attachment-Bound", "Other-Listeners", "X-Ignored-Parameters",
	} {
		require.Contains(t, strings.Split(strings.ToLower(exposed), ", "), strings.ToLower(name))
	}
	for _, path := range []string{"/api/v1/nowhere", "/api/v1/wallet/", "/api/v1//wallet"} {
		nowhere := s.send("OPTIONS", path, "", nil, "Origin", page, "Access-Control-Request-Method", "GET").refused(fault.NotFound)
		for name := range nowhere.header {
			require.NotContains(t, name, "Access-Control-", path)
		}
	}
	// A page may read why a request failed.
	s.send("GET", "/api/v1/nowhere", "", nil, "Origin", page).carries("Access-Control-Allow-Origin", page)
}

// A percent-encoded unreserved character of a path means the character.
func TestEscapedPaths(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	var escaped strings.Builder
	for _, b := range []byte(agent.ID.String()) {
		fmt.Fprintf(&escaped, "%%%02x", b)
	}
	for _, path := range []string{"/api/v1/w%61llet", "/%61pi/v%31/%77%61%6C%6c%65%74", "/health%7a", "/api/v1/bots/" + escaped.String()} {
		require.Equal(t, http.StatusOK, s.send("GET", path, agent.Token, nil).status, path)
	}
	for _, path := range []string{"/api%2Fv1/wallet", "/api/v1/wallet%2f", "/api/v1/%2e/wallet", "/api/v1/wal%6Cet/%2e%2e", "/api/v1/w%2561llet"} {
		s.raw("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, agent.Token).fault(fault.NotFound)
	}
	s.raw("GET /api/v1/bots/%%20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", agent.Token).fault(fault.InvalidID)
}

// The checks run in the contract's order, even if a body is read before its sender is admitted: each request below also fails
// every later check.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]struct {
		method, path string
		syntax       fault.Code
	}{
		"change":  {"PATCH", "/api/v1/bots/me", fault.InvalidInput},
		"message": {"POST", messagesPath, fault.InvalidEnvelope},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 3}))
			agent, suspended := s.Agent(), s.Agent()
			s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
			huge := `{"bio":"` + strings.Repeat("x", 70<<10) + `",`
			send := func(token, body string, headers ...string) *answer {
				return s.send(route.method, route.path, token, body, headers...)
			}
			s.send("PUT", route.path, "", huge).fault(fault.MethodNotAllowed)
			send("", huge, "Content-Type", "text/plain").fault(fault.Unauthorized)
			send("stoa_x", `{"bio":}`).fault(fault.Unauthorized)
			for _, body := range []string{huge, "{}", "{", ""} { // small bodies arrive with their header
				send(suspended.Token, body, "Content-Type", "text/plain").fault(fault.Forbidden)
			}
			send(agent.Token, huge, "Content-Type", "text/plain").fault(fault.UnsupportedMediaType)
			send(agent.Token, huge).fault(fault.PayloadTooLarge)
			send(agent.Token, `{"bio":}`).fault(route.syntax)
			send(agent.Token, "{", "Content-Type", "text/plain").fault(fault.WriteLimited)
			limited := send(agent.Token, huge, "Content-Type", "text/plain").refused(fault.WriteLimited)
			limited.carries("RateLimit-Policy", `"mutations";q=3;w=60`)
			require.Regexp(t, `^"mutations";r=0;t=\d+$`, limited.header.Get("RateLimit"))
		})
	}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for contentType, status := range map[string]int{
		"application/json":                         http.StatusOK,
		"Application/JSON; charset=UTF-8":          http.StatusOK,
		`application/json; charset="utf-8"`:        http.StatusOK,
		"application/json; charset=latin1":         http.StatusUnsupportedMediaType,
		"application/merge-patch+json":             http.StatusUnsupportedMediaType,
		"text/json":                                http.StatusUnsupportedMediaType,
		"":                                         http.StatusUnsupportedMediaType,
		"application/json, application/json":       http.StatusUnsupportedMediaType,
		"application/x-www-form-urlencoded":        http.StatusUnsupportedMediaType,
		"multipart/form-data; boundary=xxxxxxxxxx": http.StatusUnsupportedMediaType,
	} {
		a := s.send("PATCH", "/api/v1/bots/me", agent.Token, `{"bio":"x"}`, "Content-Type", contentType)
		require.Equal(t, status, a.status, "%q: %s", contentType, a.raw)
	}
	s.send("PATCH", "/api/v1/bots/me", agent.Token, `{"bio":"x"}`, "Content-Encoding", "gzip").fault(fault.UnsupportedMediaType)
	s.send("POST", "/api/v1/tokens/rotate", agent.Token, "not json", "Content-Type", "text/plain").ok(200)
}

func TestBearerHeader(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for header, status := range map[string]int{
		"Bearer " + agent.Token:         http.StatusOK,
		"bEARER " + agent.Token:         http.StatusOK,
		"Basic " + agent.Token:          http.StatusUnauthorized,
		agent.Token:                     http.StatusUnauthorized,
		"Bearer":                        http.StatusUnauthorized,
		"Bearer " + agent.Token + "x":   http.StatusUnauthorized,
		"Bearer x, Bearer " + "another": http.StatusUnauthorized,
	} {
		a := s.send("GET", "/api/v1/bots/me", "", nil, "Authorization", header)
		require.Equal(t, status, a.status, "%q", header)
		if status == http.StatusUnauthorized {
			challenge := `Bearer realm="stoa"`
			if len(header) > len("Bearer") && strings.HasPrefix(header, "Bearer") {
				challenge += `, error="invalid_token"`
			}
			require.Equal(t, challenge, a.header.Get("WWW-Authenticate"), "%q", header)
		}
	}
	s.send("POST", "/api/v1/bots/register", "wrong", registration(newHandle())).ok(201)
}

// A caller without a token is accepted, a caller with a wrong token is refused, and an empty header does not hide another header.
func TestBearerHeaderOfReaders(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for _, path := range []string{"/api/v1/tasks", "/api/v1/services"} {
		for status, sent := range map[int][][]string{
			http.StatusOK:           {nil, {"Bearer " + agent.Token}},
			http.StatusUnauthorized: {{""}, {"", "Bearer x"}, {"", "Bearer " + agent.Token}, {"Bearer x"}},
		} {
			for _, headers := range sent {
				request := graphtest.Got(http.NewRequest(http.MethodGet, s.url+path, http.NoBody))(t)
				request.Header["Authorization"] = headers
				response, err := http.DefaultTransport.RoundTrip(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.Equal(t, status, response.StatusCode, "%s %q", path, headers)
			}
		}
	}
}

// A body over the limit is refused, even a chunked body without a length.
func TestBodySizes(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	fits := `{"bio":"x"}` + strings.Repeat(" ", 64<<10-len(`{"bio":"x"}`))
	s.patch(agent, "/bots/me", fits).ok(200)
	s.patch(agent, "/bots/me", fits+" ").fault(fault.PayloadTooLarge)
	s.raw("PATCH /api/v1/bots/me HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", agent.Token, 70<<10, strings.Repeat(" ", 70<<10)).
		fault(fault.PayloadTooLarge)
}

// If an empty body counts as {}, it needs no type, with or without a Content-Length.
func TestEmptyBodyOfUnknownLength(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	const json = "Content-Type: application/json\r\n"
	for _, c := range []struct {
		body, types string
		code        fault.Code
	}{
		{"", "", fault.NotFound},
		{"{}", "", fault.UnsupportedMediaType},
		{"{}", json, fault.NotFound},
		{`{"x":1}`, json, fault.InvalidID},
		{"{}", json + "Content-Type: text/plain\r\n", fault.UnsupportedMediaType},
	} {
		chunks := "0\r\n\r\n"
		if c.body != "" {
			chunks = fmt.Sprintf("%x\r\n%s\r\n", len(c.body), c.body) + chunks
		}
		s.raw("POST /api/v1/contacts/%s/accept HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Transfer-Encoding: chunked\r\n%s\r\n%s", agent.ID, agent.Token, c.types, chunks).fault(c.code)
	}
}

func TestRequestsPerAddress(t *testing.T) {
	t.Parallel()
	limited := serve(t, shared.World(t), rest.Config{RequestsPerAddressPerSecond: 5})
	last := limited.send("GET", "/healthz", "", nil)
	for n := 0; n < 30 && last.status == http.StatusOK; n++ {
		last = limited.send("GET", "/healthz", "", nil)
	}
	last.refused(fault.RateLimited).carries("Retry-After", "1")
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	s.send("GET", "/healthz", "", nil).has(200, object{"status": "ok", "version": "unknown"})
	s.send("GET", "/readyz", "", nil).has(200, object{"status": "ok", "checks": object{"database": "ok"}})
	s.draining.Store(true)
	s.send("GET", "/readyz", "", nil).is(503)
	s.send("GET", "/healthz", "", nil).ok(200)
}

func TestLostDatabaseIsUnavailableNotBroken(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t).withAgent()
	restore := s.Outage()
	s.get(agent, "/bots/me").fault(fault.ServiceUnavailable)
	s.post(nil, "/bots/register", registration("later")).fault(fault.RegistrationUnavailable)
	restore()
	s.get(agent, "/bots/me").ok(200)
}
