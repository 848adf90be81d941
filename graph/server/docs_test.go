package server_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
)

var (
	// graphqlBlocks are the fenced blocks of a document that hold GraphQL.
	graphqlBlocks = regexp.MustCompile("(?ms)^```graphql\n(.*?)^```")
	// graphqlSpans match text in code quotes that looks like a query: a field with arguments or subfields.
	graphqlSpans = regexp.MustCompile("`((?:query|mutation)?\\s*\\{ [a-z]\\w*(?:\\(| \\{)[^`]*\\})`")
)

// Every GraphQL document in the documentation runs.
func TestGraphQLOfTheDocumentsRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{}))
	pages := graphtest.Got(filepath.Glob("../../docs/*.md"))(t)
	for _, folder := range []string{"../../*.md", "../../docs/*/*.md", "../../rest/*.md"} {
		pages = append(pages, graphtest.Got(filepath.Glob(folder))(t)...)
	}
	ran := 0
	for _, page := range pages {
		text := graphtest.Got(os.ReadFile(page))(t)
		for _, found := range append(graphqlBlocks.FindAllStringSubmatch(string(text), -1), graphqlSpans.FindAllStringSubmatch(string(text), -1)...) {
			answer := s.ask(operatorToken, found[1], nil)
			require.Equal(t, 200, answer.status, "%s: %s\n%s", page, found[1], answer.raw)
			require.Empty(t, answer.Errors, "%s: %s", page, found[1])
			ran++
		}
	}
	require.GreaterOrEqual(t, ran, 4)
}

// The guide says of each enum whether its values are in lower or in upper case.
func TestCaseOfEnumsIsDocumented(t *testing.T) {
	t.Parallel()
	guide := graphtest.Got(os.ReadFile("../../docs/operating.md"))(t)
	written := map[bool][]string{}
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		definition := schema.Types[name]
		if definition.Kind != ast.Enum || strings.HasPrefix(name, "__") || strings.HasSuffix(name, "OrderField") {
			continue
		}
		value := definition.EnumValues[0].Name
		upper := value == strings.ToUpper(value)
		written[upper] = append(written[upper], "`"+name+"`")
	}
	require.Regexp(t, "(?m)^\\| in lower case[^|]* \\| "+strings.Join(written[false], ", ")+" \\|$", string(guide))
	require.Regexp(t, "(?m)^\\| in upper case[^|]* \\| "+strings.Join(written[true], ", ")+", and every", string(guide))
}

// A client that names GraphQL's own media type gets it, in answers and refusals.
func TestMediaTypeOfAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const plain, own = "application/json", "application/graphql-response+json; charset=utf-8"
	for accept, want := range map[string]string{
		"": plain, "*/*": plain, "application/*": plain, "text/html": plain, "application/json": plain,
		"application/graphql-response+json":                                  own,
		"application/graphql-response+json; charset=utf-8, application/json": own,
		"application/json, application/graphql-response+json":                own,
		"application/json;q=0.9, application/graphql-response+json":          own,
		"application/json, application/graphql-response+json;q=0.5":          plain,
		"application/graphql-response+json;q=0":                              plain,
		"application/graphql-response+json, */*;q=0.1":                       own,
	} {
		for body, status := range map[string]int{`{"query":"{ settings { feeBps } }"}`: 200, `{"query":"{ nothing }"}`: 400, `[]`: 400} {
			a := s.post(operatorToken, body, "Accept", accept)
			require.Equal(t, status, a.status, "%q: %s", accept, a.raw)
			require.Equal(t, want, a.header.Get("Content-Type"), "%q: %s", accept, body)
			require.Contains(t, a.header.Values("Vary"), "Accept")
		}
		require.Equal(t, want, s.post("", "", "Accept", accept).header.Get("Content-Type"))
	}
}
