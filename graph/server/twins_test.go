package server_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// twins are two agents in the same situation. Both take the same steps, one over REST, the other over GraphQL.
type twins struct {
	*site
	rest, graphql *graphtest.Agent
	// covered collects the operations that were compared.
	covered *sync.Map
}

// operation is one operation as both transports describe it.
type operation struct {
	method, path string
	field        string
	// body is the REST body; more holds the values of REST's path and query, by their GraphQL names.
	body, more vars
	// graphql replaces values of the body that differ between the twins.
	graphql vars
	// anonymous: REST sends no token. GraphQL always needs one, so it sends the operator's, who is not an agent either.
	anonymous bool
}

// op returns an operation by REST's route, such as "GET /bots/me", and GraphQL's field. Its parts are the body, and the values of
// path and query.
func op(route, field string, parts ...vars) operation {
	method, path, _ := strings.Cut(route, " ")
	parts = append(parts, nil, nil)
	return operation{method: method, path: path, field: field, body: parts[0], more: parts[1]}
}

// twin returns the operation with other values for GraphQL's twin.
func (o operation) twin(graphql vars) operation {
	o.graphql = graphql
	return o
}

// anyone returns the operation without a token.
func (o operation) anyone() operation {
	o.anonymous = true
	return o
}

// same performs an operation on both sides, requires the same outcome, and returns it in REST's form.
func (w *twins) same(op operation) map[string]any {
	w.covered.Store(op.field, true)
	status, rest := w.overREST(op)
	answer := w.overGraphQL(op)
	if failure, failed := rest["error"].(map[string]any); failed {
		require.GreaterOrEqual(w.t, status, 400)
		require.Len(w.t, answer.Errors, 1, "%v: %s", rest, answer.raw)
		shown := answer.Errors[0]
		fields := map[string]any{}
		for name, reason := range shown.Extensions.Fields {
			fields[name] = reason
		}
		blamed, _ := failure["fields"].(map[string]any)
		require.Equal(w.t, failure["code"], string(shown.Extensions.Code), "%s", answer.raw)
		require.Equal(w.t, plain(failure["message"]), plain(shown.Message))
		require.Len(w.t, fields, len(blamed))
		if len(blamed) > 0 {
			require.Equal(w.t, blamed, fields)
		}
		return failure
	}
	result := answer.ok(op.field)
	delete(result, "repeated")
	shown := camel(rest)
	leaveOut(shown, result)
	require.Equal(w.t, plain(shown), plain(result))
	return rest
}

func (w *twins) refused(code fault.Code, op operation) {
	require.Equal(w.t, string(code), w.same(op)["code"])
}

func (w *twins) overREST(op operation) (int, map[string]any) {
	var body []byte
	if op.body != nil {
		body = graphtest.Got(json.Marshal(op.body))(w.t)
	}
	request := graphtest.Got(http.NewRequest(op.method, w.site.rest+"/api/v1"+op.path, bytes.NewReader(body)))(w.t)
	request.Header.Set("Content-Type", "application/json")
	if !op.anonymous {
		request.Header.Set("Authorization", "Bearer "+w.rest.Token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	var answer map[string]any
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer
}

func (w *twins) overGraphQL(op operation) *answer {
	kind, field := "query", schema.Query.Fields.ForName(op.field)
	if field == nil {
		kind, field = "mutation", schema.Mutation.Fields.ForName(op.field)
	}
	text := " { " + op.field + everything(schema.Types[field.Type.Name()], 4) + " }"
	v := vars{}
	if len(field.Arguments) > 0 {
		input, _ := camel(map[string]any(op.body)).(map[string]any)
		if input == nil {
			input = map[string]any{}
		}
		for _, own := range []vars{op.more, op.graphql} {
			maps.Copy(input, own)
		}
		v["input"] = input
		text = "($input: " + field.Arguments[0].Type.String() + ") { " + op.field + "(input: $input) " + everything(schema.Types[field.Type.Name()], 4) + " }"
	}
	token := w.graphql.Token
	if op.anonymous {
		token = operatorToken
	}
	return w.ask(token, kind+text, v)
}

// leaveOut drops members that are null in GraphQL and absent in REST.
func leaveOut(rest, graphql any) {
	switch rest := rest.(type) {
	case map[string]any:
		shown, _ := graphql.(map[string]any)
		for name, value := range shown {
			if member, sent := rest[name]; sent {
				leaveOut(member, value)
			} else if value == nil {
				delete(shown, name)
			}
		}
	case []any:
		shown, _ := graphql.([]any)
		for i := range min(len(rest), len(shown)) {
			leaveOut(rest[i], shown[i])
		}
	}
}

// camel renames REST's members as GraphQL does. Templates of bodies and payloads of events keep REST's names in both.
func camel(value any) any {
	switch value := value.(type) {
	case map[string]any:
		renamed := make(map[string]any, len(value))
		for name, member := range value {
			words := strings.Split(name, "_")
			for i, word := range words[1:] {
				words[i+1] = strings.ToUpper(word[:1]) + word[1:]
			}
			if name != "body" && name != "payload" {
				member = camel(member)
			}
			renamed[strings.Join(words, "")] = member
		}
		return renamed
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = camel(element)
		}
		return list
	default:
		return value
	}
}

// volatile are the values that differ between two runs of one operation.
var volatile = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "an id"},
	{regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`), "a time"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "a second"},
	{regexp.MustCompile(`^stoa_\w{49}$`), "a token"},
	{regexp.MustCompile(`^(agent|twin)_\w+$`), "a handle"},
	{regexp.MustCompile(`^[A-Za-z0-9+/]{43}=$`), "a key"},
	{regexp.MustCompile(`^SHA256:.{43}$`), "a fingerprint"},
	{regexp.MustCompile(`^[0-9a-f]{64}$`), "a hash"},
	{regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`), "a proof"},
	{regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$`), "a signed document"},
	{regexp.MustCompile(`^[A-Za-z0-9+/]{22}==$`), "a salt"},
	{regexp.MustCompile(`^whsec_[A-Za-z0-9+/=]+$`), "a secret"},
	{regexp.MustCompile(`(?s)^c2sp\.org/tlog-proof@v1\n.*$`), "a proof of an entry"},
	{regexp.MustCompile(`^[ab]\*\*\*@example.org$`), "an address"},
}

func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = plain(member)
			if name == "index" && member != nil { // of an entry in the key log
				value[name] = "an index"
			}
		}
	case []any:
		for i, element := range value {
			value[i] = plain(element)
		}
	case string:
		for _, v := range volatile {
			value = v.form.ReplaceAllString(value, v.name)
		}
		return value
	}
	return value
}
