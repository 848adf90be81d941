package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

var (
	// graphqlBlocks are the fenced blocks of a document that hold GraphQL.
	graphqlBlocks = regexp.MustCompile("(?ms)^```graphql\n(.*?)^```")
	// graphqlSpans match text in code quotes that looks like a query: a field with arguments or subfields.
	graphqlSpans = regexp.MustCompile("`((?:query|mutation)?\\s*\\{ [a-z]\\w*(?:\\(| \\{)[^`]*\\})`")
	enumNames    = regexp.MustCompile("`([A-Z]\\w+)`")
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
	documented := map[string][]string{}
	for line := range strings.Lines(string(guide)) {
		for _, written := range []string{"lower", "upper"} {
			if strings.HasPrefix(line, "| in "+written+" case") {
				for _, name := range enumNames.FindAllStringSubmatch(line[strings.LastIndex(line, "| `"):], -1) {
					documented[written] = append(documented[written], name[1])
				}
			}
		}
	}
	actual := map[string][]string{}
	for name, definition := range exec.NewExecutableSchema(exec.Config{}).Schema().Types {
		if definition.Kind != ast.Enum || strings.HasPrefix(name, "__") || strings.HasSuffix(name, "OrderField") {
			continue
		}
		written := "lower"
		if value := definition.EnumValues[0].Name; value == strings.ToUpper(value) {
			written = "upper"
		}
		actual[written] = append(actual[written], name)
	}
	for _, names := range []map[string][]string{documented, actual} {
		slices.Sort(names["lower"])
		slices.Sort(names["upper"])
	}
	require.Equal(t, actual, documented)
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

// catalogue is the story of services.
func catalogue(w *twins) {
	create := func(body vars) operation { return op("POST /services", "createService", body) }
	offered := w.same(create(vars{"title": " Translation ", "description": "From French.\nTo Latin."}))["service"].(map[string]any)["id"].(string)
	newest := w.overGraphQL(operation{field: "serviceCatalogue"}).ok("serviceCatalogue")["services"].([]any)
	require.Len(w.t, newest, 2)
	twin := newest[0].(map[string]any)["id"]
	w.refused(fault.InvalidInput, create(vars{"title": "", "description": ""}))
	on := func(method, field, id string, other any, body vars) operation {
		return op(method+" /services/"+id, field, body, vars{"serviceId": other})
	}
	w.same(on("PATCH", "updateService", offered, twin, vars{"title": "Interpretation"}))
	w.refused(fault.InvalidInput, on("PATCH", "updateService", offered, twin, vars{}))
	w.refused(fault.InvalidID, on("PATCH", "updateService", "x", "x", vars{"title": "x"}))

	public := on("GET", "service", offered, twin, nil)
	public.anonymous = true
	w.same(public)
	w.same(on("GET", "service", offered, twin, nil))
	w.refused(fault.InvalidID, on("GET", "service", "x", "x", nil))
	list := func(query string, more vars) operation {
		return op("GET /services?"+query, "serviceCatalogue", nil, more).anyone()
	}
	require.Len(w.t, w.same(list("", nil))["services"], 2)
	require.Len(w.t, w.same(list("q=FRENCH&page=1&page_size=1", vars{"q": "FRENCH", "page": "1", "pageSize": 1}))["services"], 1)
	require.Empty(w.t, w.same(list("q=zz", vars{"q": "zz"}))["services"])
	w.refused(fault.InvalidPagination, list("page=1001", vars{"page": 1001}))
	w.refused(fault.InvalidSearch, list("q="+strings.Repeat("x", 161), vars{"q": strings.Repeat("x", 161)}))
	w.same(on("DELETE", "deleteService", offered, twin, nil))
}

// opinion is the story of feedback.
func opinion(w *twins) {
	send := func(body vars) operation { return op("POST /feedback", "sendFeedback", body) }
	w.same(send(vars{"kind": "bug", "text": "It hums.\n"}))
	w.same(send(vars{"kind": "idea", "text": "Let it sing."}))
	w.same(send(vars{"kind": "report", "text": "Spam.", "subject": vars{"type": "bot", "id": w.Agent().ID}}))
	w.refused(fault.InvalidInput, send(vars{"kind": "praise", "text": strings.Repeat("x", 4001)}))

	list := op("GET /feedback", "ownFeedback")
	rest := w.same(list)["feedback"].([]any)
	graphql := w.overGraphQL(list).ok("ownFeedback")["feedback"].([]any)
	require.Len(w.t, rest, 3)
	before := func(mine string, theirs any) operation {
		return op("GET /feedback?before="+mine, "ownFeedback", nil, vars{"before": theirs})
	}
	mine, theirs := rest[0].(map[string]any)["id"].(string), graphql[0].(map[string]any)["id"]
	require.Len(w.t, w.same(before(mine, theirs))["feedback"], 2)
	w.refused(fault.InvalidID, before("x", "x"))

	w.Exec(`INSERT INTO notices (id, created_at, bot_id, about_type, about_id, text)
		SELECT gen_random_uuid(), stoa_now(), id, 'bot', id, 'Stop.' FROM bots`)
	notices := op("GET /notices", "notices")
	require.Len(w.t, w.same(notices)["notices"], 1)
	notices.path, notices.more = "/notices?before=x", vars{"before": "x"}
	w.refused(fault.InvalidID, notices)
}
