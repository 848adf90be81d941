package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/server"
)

// doubling is a document whose fragments would grow to 2^n fields.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("{ bots { ...f0 } }")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on BotConnection { ...f%d a%d: totalCount ...f%d }", i, i+1, i, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on BotConnection { totalCount }", n)
	return b.String()
}

// TestDocumentsAreMeasuredWithFragmentsWrittenOut has the bounds of fields, roots and depth.
func TestDocumentsOverTheLimitsAreNotRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, query := range map[string]string{
		"too many tokens":       "{ " + strings.Repeat("settings { feeBps } ", 3000) + "}",
		"too complex":           "{ " + aliases(15, "bots(first: 100) { edges { node { id handle displayName bio specialty state createdAt updatedAt suspendedAt lastActiveAt isDemo profilePublic } } }") + " }",
		"too many files":        "{ " + aliases(4, "feed { posts { attachments { id purpose status mediaType sizeBytes width height pages available createdAt } } }") + " }",
		"doubling fragments":    doubling(60),
		"endless fragments":     "{ bots { ...f } } fragment f on BotConnection { edges { cursor } ...f }",
		"fragments in a ring":   "{ bots { ...f } } fragment f on BotConnection { ...g } fragment g on BotConnection { ...f }",
		"a chain of fragments":  chain(600, "f600"),
		"a long ring":           chain(600, "f0"),
		"half a pair":           `{ bots(where: {handle: "a\ud83d\ude00"}) { totalCount } }`,
		"unknown fragment":      "{ bots { ...f } }",
		"directives":            "{ settings { feeBps " + strings.Repeat("@skip(if: false) ", 60) + "} }",
		"unknown directive":     "{ settings { feeBps @shout } }",
		"two in a fragment":     `mutation { ...f } fragment f on Mutation { a: deactivateLifecycle(reason: "x") { feeBps } b: deactivateLifecycle(reason: "x") { feeBps } }`,
		"a conditional second":  `mutation { a: deactivateLifecycle(reason: "x") { feeBps } ... @skip(if: true) { b: deactivateLifecycle(reason: "x") { feeBps } } }`,
		"subscription":          "subscription { settings { feeBps } }",
		"two nameless":          "{ settings { feeBps } } { settings { feeBps } }",
		"unfinished":            "{ settings { feeBps }",
		"no operation":          "fragment f on Query { settings { feeBps } }",
		"a number out of range": "{ bots(first: 99999999999999999999) { totalCount } }",
		"a default of range":    "query ($n: Int = 99999999999999999999) { bots(first: $n) { totalCount } }",
		"more than 32 bits":     "{ bots(first: 4294967297) { totalCount } }",
		"unknown field":         "{ bots { totalCounts } }",
		"wrong enum":            "{ bots(where: {state: gone}) { totalCount } }",
		"wrong scalar":          `{ bots(where: {createdAtGTE: "yesterday"}) { totalCount } }`,
	} {
		t.Run(name, func(t *testing.T) {
			a := s.ask(operatorToken, query, nil)
			require.NotEmpty(t, a.Errors, "%s", a.raw)
			require.LessOrEqual(t, len(a.Errors), 10)
			require.Less(t, len(a.raw), 10_000)
			require.Equal(t, fault.InvalidInput, a.Errors[0].Extensions.Code, "%s", a.raw)
			require.Contains(t, []int{http.StatusBadRequest, http.StatusOK}, a.status)
		})
	}
	require.Empty(t, s.log.String())
	require.Zero(t, s.Count("SELECT count(*) FROM audit_entries"))
}

// chain returns a document of n fragments. Each spreads the next one, and the last one spreads the named one.
func chain(n int, last string) string {
	var b strings.Builder
	b.WriteString("{ ...f0 } ")
	for i := range n - 1 {
		fmt.Fprintf(&b, "fragment f%d on Query { ...f%d } ", i, i+1)
	}
	fmt.Fprintf(&b, "fragment f%d on Query { __typename ...%s } fragment f%d on Query { __typename }", n-1, last, n)
	return b.String()
}

func aliases(n int, field string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: %s ", i, field)
	}
	return b.String()
}

func TestVariablesOfWrongTypesAreTheCallersFault(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const suspend = `mutation ($id: ID!, $reason: String!) { suspendBot(botId: $id, reason: $reason) { id } }`
	for name, c := range map[string]struct {
		query string
		v     vars
		code  fault.Code
	}{
		"too many values":        {`query ($i: [OrderState!]) { orders(where: {stateIn: $i}) { totalCount } }`, vars{"i": make([]string, 5000)}, fault.InvalidInput},
		"many values elsewhere":  {`query ($i: Int) { bots(first: $i) { totalCount } }`, vars{"i": 5, "unused": make([][]int, 5000)}, fault.InvalidInput},
		"an id of another form":  {suspend, vars{"id": "{019b0000-abcd-7000-8000-00000000000f}", "reason": "x"}, fault.InvalidID},
		"a number for an id":     {suspend, vars{"id": 7, "reason": "x"}, fault.InvalidID},
		"null for an id":         {suspend, vars{"id": nil, "reason": "x"}, fault.InvalidInput},
		"nothing for a reason":   {suspend, vars{"id": "019b0000-abcd-7000-8000-00000000000f"}, fault.InvalidInput},
		"a list for a reason":    {suspend, vars{"id": "019b0000-abcd-7000-8000-00000000000f", "reason": []string{"x"}}, fault.InvalidInput},
		"a fraction":             {`query ($n: Int) { bots(first: $n) { totalCount } }`, vars{"n": 1.5}, fault.InvalidInput},
		"a text for an integer":  {`query ($n: Int) { bots(first: $n) { totalCount } }`, vars{"n": "5"}, fault.InvalidInput},
		"too large":              {`query ($n: Int) { bots(first: $n) { totalCount } }`, vars{"n": 1 << 40}, fault.InvalidInput},
		"an enum in other case":  {`query ($s: BotState) { bots(where: {state: $s}) { totalCount } }`, vars{"s": "ACTIVE"}, fault.InvalidInput},
		"an unknown input field": {`query ($w: BotWhereInput) { bots(where: $w) { totalCount } }`, vars{"w": vars{"nonce": 1}}, fault.InvalidInput},
		"a cursor of our own":    {`query ($c: Cursor) { bots(after: $c) { totalCount } }`, vars{"c": "AAAA"}, fault.InvalidPagination},
		"an object for base64":   {`mutation ($k: Base64) { registerBot(input: {encryptionPublicKey: $k}) { token } }`, vars{"k": vars{}}, fault.InvalidInput},
		"an object for an image": {`mutation ($k: ID) { updateMe(input: {avatarAttachmentId: $k}) { bot { id } } }`, vars{"k": vars{}}, fault.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.ask(operatorToken, c.query, c.v)
			require.Len(t, a.Errors, 1, "%s", a.raw)
			require.Equal(t, c.code, a.Errors[0].Extensions.Code, "%s", a.raw)
		})
	}
	require.Empty(t, s.log.String())
}

func TestRequestsThatAreNotGraphQL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const query = `{"query": "{ settings { feeBps } }"}`
	s.post(operatorToken, query).ok("settings")
	s.post(operatorToken, `{"query": "query a { settings { feeBps } } query b { me { bot { id } } }", "operationName": "a", "extensions": {"x": 1}, "variables": null}`).ok("settings")
	s.post(operatorToken, `{"query": "{ settings { feeBps } }", "operationName": null}`).ok("settings")
	s.post(operatorToken, `{"query": "query a { settings { feeBps } }", "operationName": "b"}`).fault(400, fault.InvalidInput)
	s.post(operatorToken, "["+query+","+query+"]").fault(400, fault.InvalidInput)
	for _, body := range []string{"", "{}", "null", `"{}"`, `{"query": 5}`, `{"query": null}`, `{"query": "{ a }", "query": "{ b }"}`, query + query, `{"query": "{ settings { feeBps } }", "variables": []}`, `{"query": "{ settings { feeBps } }", "colour": 1}`} {
		s.post(operatorToken, body).fault(400, fault.InvalidInput)
	}
	s.post(operatorToken, `{"query": "`+strings.Repeat("#", 3<<20)+`"}`).fault(413, fault.PayloadTooLarge)
	s.post(operatorToken, query, "Content-Type", "text/plain").fault(415, fault.UnsupportedMediaType)
	s.post(operatorToken, query, "Content-Type", "application/x-www-form-urlencoded").fault(415, fault.UnsupportedMediaType)
	s.post(operatorToken, query, "Content-Encoding", "gzip").fault(415, fault.UnsupportedMediaType)

	for _, c := range []struct {
		method, path string
		status       int
		code         fault.Code
	}{
		{http.MethodGet, server.Path + "?query={settings{feeBps}}", 405, fault.MethodNotAllowed},
		{http.MethodPut, server.Path, 405, fault.MethodNotAllowed},
		{http.MethodGet, "/graphql/", 404, fault.NotFound},
		{http.MethodGet, "//graphql", 404, fault.NotFound},
		{http.MethodPost, "/healthz", 405, fault.MethodNotAllowed},
	} {
		s.do(graphtest.Got(http.NewRequest(c.method, s.graphql+c.path, nil))(t)).fault(c.status, c.code)
	}
	health, err := http.Get(s.graphql + "/healthz")
	require.NoError(t, err)
	require.NoError(t, health.Body.Close())
	require.Equal(t, 200, health.StatusCode)
}

func TestIntrospectionAndSuggestionsAreForOperators(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	for _, query := range []string{
		"{ __schema { types { name } } }", `{ __type(name: "Bot") { name } }`,
		"{ ...f } fragment f on Query { a: __schema { types { name } } }", "{ me { bot { id } } ... { __schema { types { name } } } }",
	} {
		for _, token := range []string{"", agent.Token} {
			a := s.ask(token, query, nil)
			a.fault(401, fault.Unauthorized)
			require.NotContains(t, string(a.raw), "Bot")
		}
	}
	s.ask(operatorToken, introspection.Query, nil).ok("__schema")
	s.ask(agent.Token, "{ me { __typename } }", nil).ok("me")

	const misspelt = "{ setings { feeBps } }"
	require.Contains(t, s.ask(operatorToken, misspelt, nil).fault(400, fault.InvalidInput).Message, "settings")
	for query, hint := range map[string]string{
		misspelt: "settings", "{ setings }": "settings", "{ settings }": "feeBps", "{ bots(were: {}) { totalCount } }": "where",
		"{ bots(where: {handl: 1}) { totalCount } }": "handle", "{ bots(where: {state: activ}) { totalCount } }": "active",
		"query ($b: Bott) { settings { feeBps } }": "Bot\"", "{ settings { ... on Setings { feeBps } } }": "Settings",
		`mutation { updateSettings(input: {registrationMode: OPENN}, reason: "x") { feeBps } }`: "OPEN\"",
	} {
		a := s.ask(agent.Token, query, nil)
		require.Equal(t, 400, a.status, "%s", a.raw)
		for _, e := range a.Errors {
			require.NotContains(t, e.Message, "Did you mean", "%s", query)
			require.NotContains(t, e.Message, hint, "%s", query)
		}
	}
}
