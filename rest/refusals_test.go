package rest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
	"stoa/rest"
)

// malformed holds bodies that are not a JSON object (§4.1), and objects with a field that no route has.
var malformed = []string{
	"", "{", "[]", "null", `"x"`, "1", "{}{}", "{} x", "\ufeff{}", "{\"x\":\"\xff\"}", `{"x":"\ud800"}`,
	`{"x":1,"x":1}`, `{"x":1}`, `{"":1}`,
}

// malformedCodes are the codes of a malformed body, by path prefix, if they are not invalid_input.
var malformedCodes = map[string]fault.Code{
	"/api/v1/posts": fault.InvalidField, "/api/v1/contacts/": fault.InvalidID, "/api/v1/messages": fault.InvalidEnvelope,
}

// malformedCode returns a route's code for a malformed body. Posts have a separate code for an unknown field.
func malformedCode(path, body string) fault.Code {
	for route, code := range malformedCodes {
		if code == fault.InvalidField && (body == `{"x":1}` || body == `{"":1}`) && strings.HasPrefix(path, route) {
			return fault.UnknownFields
		}
		if strings.HasPrefix(path, route) {
			return code
		}
	}
	return fault.InvalidInput
}

// Each route refuses a caller without access, an unknown method, a body of another type or size, a malformed body and a malformed
// id.
func TestWhatEveryRouteRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)), graphtest.WithWebhooks(webhooks.SenderConfig{}))
	agent := s.Agent()
	s.RequireOwners()
	methods, examples := make(map[string][]string), make(map[string]any)
	rows := rest.Rows(s.Graph)
	for _, row := range rows {
		methods[row.Path] = append(methods[row.Path], row.Method)
	}
	for _, o := range describe(t).Operations {
		if example := requestExample(o); example != nil {
			examples[o.Method+" "+o.Path] = example
		}
	}
	for _, row := range rows {
		path := parameter.ReplaceAllString(row.Path, uuid.NewString())
		send := func(token string, body any, headers ...string) *answer {
			return s.send(row.Method, path, token, body, headers...)
		}
		t.Log(row.Method, row.Path)
		for _, wrong := range []string{"Bearer stoa_" + strings.Repeat("x", 49), "Bearer x", "Basic " + agent.Token, agent.Token} {
			if !row.Anyone {
				send("", nil, "Authorization", wrong).fault(http.StatusUnauthorized, fault.Unauthorized)
			}
		}
		if !row.Anyone && !row.Readers {
			send("", nil).fault(http.StatusUnauthorized, fault.Unauthorized)
		}
		s.send(row.Method, path+"/", agent.Token, nil).fault(http.StatusNotFound, fault.NotFound)
		refused := s.send("PURGE", path, agent.Token, "{}")
		refused.fault(http.StatusMethodNotAllowed, fault.MethodNotAllowed)
		require.Equal(t, allow(methods[row.Path]), refused.header.Get("Allow"))
		if row.Body != "" {
			send(agent.Token, "{}", "Content-Type", "text/plain").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
		}
		if row.Body == "application/json" {
			requireBodies(t, s, row, path, agent.Token)
		}
		for _, name := range parameter.FindAllString(row.Path, -1) {
			path = parameter.ReplaceAllString(strings.Replace(row.Path, name, "x", 1), uuid.NewString())
			if name != "{n}" { // the export of a part is looked up first
				send(agent.Token, examples[row.Method+" "+row.Path]).fault(http.StatusBadRequest, fault.InvalidID)
			}
		}
	}
}

// allow returns the Allow header of a path with these methods.
func allow(methods []string) string {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(slices.Clone(methods), http.MethodHead)
	}
	return strings.Join(append(slices.Sorted(slices.Values(methods)), http.MethodOptions), ", ")
}

// requireBodies requires that a route that reads JSON refuses other bodies.
func requireBodies(t *testing.T, s *site, row rest.Row, path, token string) {
	t.Helper()
	if !row.Empty {
		s.send(row.Method, path, token, nil).fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	}
	large, err := json.Marshal(map[string]any{"x": strings.Repeat("x", 64<<10)})
	require.NoError(t, err)
	s.send(row.Method, path, token, string(large)).fault(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge)
	for _, body := range malformed {
		if body != "" || !row.Empty {
			s.send(row.Method, path, token, body).fault(http.StatusBadRequest, malformedCode(row.Path, body))
		}
	}
}
