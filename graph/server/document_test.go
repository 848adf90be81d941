package server

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/exec"
)

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
	f.Fuzz(func(t *testing.T, query, variables string) {
		if _, err := examineDocument(query, ""); err != nil {
			require.Equal(t, 400, faultOf(context.Background(), err).Status())
			return
		}
		v, err := readVariables([]byte(variables))
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

// The cost of a list is the cost of its rows' fields times the most rows that it may return.
func TestListsCostWhatTheyMayReturn(t *testing.T) {
	t.Parallel()
	costs := reflect.ValueOf(costs())
	for name := range rows {
		holder, field, _ := strings.Cut(name, ".")
		of := costs.FieldByName(holder)
		require.True(t, of.IsValid(), name)
		require.False(t, of.FieldByName(field).IsNil(), name)
	}
	for _, field := range exec.NewExecutableSchema(exec.Config{}).Schema().Query.Fields {
		if strings.HasSuffix(field.Type.Name(), "Connection") {
			cost := costs.FieldByName("Query").FieldByName(strings.ToUpper(field.Name[:1]) + field.Name[1:])
			require.False(t, cost.IsNil(), "the connection %s costs one", field.Name)
		}
	}
}
