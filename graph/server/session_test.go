package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/exec"
	"stoa/graph/platform/viewer"
)

var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestSessionLastsItsTime(t *testing.T) {
	t.Parallel()
	s := newSessions("a token")
	value := s.issue(viewer.Viewer{Name: "Ada “the first”"}, begin)
	require.NotContains(t, value, "token")
	for _, later := range []time.Duration{0, time.Hour, sessionLifetime - time.Second} {
		claims, ok := s.verify(value, begin.Add(later))
		require.True(t, ok)
		require.Equal(t, "Ada “the first”", claims.Name)
		require.Equal(t, begin.Add(sessionLifetime).Unix(), claims.Expires)
	}
	_, ok := s.verify(value, begin.Add(sessionLifetime))
	require.False(t, ok)
	for token, good := range map[string]bool{"a token": true, "": false, "another": false, "a token ": false} { // of other processes
		_, ok = newSessions(token).verify(value, begin)
		require.Equal(t, good, ok, token)
	}
	_, ok = newSessions("").verify(newSessions("").issue(viewer.Viewer{}, begin), begin)
	require.False(t, ok, "without a token no session is valid")
}

func FuzzForgedSessions(f *testing.F) {
	s := newSessions("a token")
	value := s.issue(viewer.Viewer{Name: "Ada"}, begin)
	payload, signature, _ := strings.Cut(value, ".")
	for _, seed := range []string{"", ".", payload, signature, payload + ".", "." + signature, value + ".", value + "A", "A" + value, "e30." + signature} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		if _, ok := s.verify(forged, begin); ok {
			sent, _, _ := strings.Cut(forged, ".")
			require.Equal(t, payload, sent)
		}
	})
}

func TestDocumentsAreMeasuredWithFragmentsWrittenOut(t *testing.T) {
	t.Parallel()
	for query, fits := range map[string]bool{
		"{ a { b } }":          true,
		"mutation { a { b } }": true,
		"mutation { a b }":     false,
		"mutation { ...f } fragment f on Mutation { a }":                                                true,
		"mutation { ...f ...f } fragment f on Mutation { a }":                                           false,
		"query q { a } mutation m { a b }":                                                              false,
		"{" + strings.Repeat("a ", maxRoots) + "}":                                                      true,
		"{" + strings.Repeat("a ", maxRoots+1) + "}":                                                    false,
		strings.Repeat("{ a ", maxDepth) + strings.Repeat("}", maxDepth):                                true,
		strings.Repeat("{ a ", maxDepth+1) + strings.Repeat("}", maxDepth+1):                            false,
		"{ a } fragment f on T " + strings.Repeat("{ a ", maxDepth+1) + strings.Repeat("}", maxDepth+1): false,
		"{ a {" + strings.Repeat("b ", maxFields-1) + "} }":                                             true,
		"{ a {" + strings.Repeat("b ", maxFields) + "} }":                                               false,
		"{ a { ...f ...f } } fragment f on T {" + strings.Repeat("b ", maxFields/2) + "}":               false,
		"{ a(n: 9223372036854775807) }":                                                                 true,
		"{ a(n: [{m: 9223372036854775808}]) }":                                                          false,
		"{ a @b(n: 1e400) }":                                                                            false,
	} {
		_, err := examineDocument(query, map[bool]string{true: "", false: "q"}[!strings.HasPrefix(query, "query q")])
		require.Equal(t, fits, err == nil, "%.80s: %v", query, err)
	}
}

// Every document that examineDocument accepts is safe for the executor.
func FuzzExamineDocument(f *testing.F) {
	for _, seed := range []string{
		"{ settings { feeBps } }", "query ($n: Int = 5) { bots(first: $n) { ...f } } fragment f on BotConnection { edges { cursor ...f } }",
		`mutation { topUpWallet(botId: "x", amountMinor: 1, reason: """y""") { account { bot { id } } } }`, "{ node(id: 5) { ... on Bot @skip(if: true) { id } } }",
		"{ bots(where: {and: [{state: active}, {not: {isDemo: null}}]}) { totalCount } } subscription s { x }", "{ __schema { types { fields { type { name } } } } }",
	} {
		f.Add(seed, `{"n": 5}`)
	}
	s := &server{Config: Config{Graph: &graph.Graph{}, Logger: slog.New(slog.DiscardHandler)}}
	executor := s.newExecutor()
	f.Fuzz(func(t *testing.T, query, vars string) {
		if _, err := examineDocument(query, ""); err != nil {
			require.Equal(t, 400, faultOf(context.Background(), err).Status())
			return
		}
		v, err := readVariables([]byte(vars))
		if err != nil {
			return
		}
		ctx := graphql.StartOperationTrace(context.Background())
		_, refused := executor.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: v})
		for _, e := range refused {
			require.Equal(t, 400, faultOf(ctx, e).Status(), "%v", e)
		}
	})
}

// The cost of a list is the cost of a row's fields times the maximum number of rows.
func TestListsCostTheirMaximum(t *testing.T) {
	t.Parallel()
	schema := priced{exec.NewExecutableSchema(exec.Config{})}
	costs := func(holder, field string) bool {
		_, more := schema.Complexity(t.Context(), holder, field, 1, nil)
		return more
	}
	for name := range rows {
		holder, field, _ := strings.Cut(name, ".")
		require.NotNil(t, schema.Schema().Types[holder].Fields.ForName(field), name)
		require.True(t, costs(holder, field), name)
	}
	for _, field := range schema.Schema().Query.Fields {
		if strings.HasSuffix(field.Type.Name(), "Connection") {
			require.True(t, costs("Query", field.Name), "the connection %s costs one", field.Name)
		}
	}
}
