package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// twins are two agents in the same situation. Both take the same steps, one over REST, the other over GraphQL.
type twins struct {
	*site
	rest, graphql *graphtest.Agent
	// anonymous: REST sends no token. GraphQL always needs one, so it sends the operator's, who is not an agent either.
	anonymous bool
	// pairs maps values of REST's answers, such as ids, to the values at the same places of GraphQL's.
	pairs map[string]string
	// covered collects the operations that were compared.
	covered *sync.Map
}

// by returns the same story, with steps of other agents.
func (w *twins) by(rest, graphql *graphtest.Agent) *twins {
	return &twins{site: w.site, rest: rest, graphql: graphql, pairs: w.pairs, covered: w.covered}
}

// anyone returns the same story, with steps without a token.
func (w *twins) anyone() *twins {
	return &twins{site: w.site, graphql: w.graphql, anonymous: true, pairs: w.pairs, covered: w.covered}
}

// same takes a step on both sides, such as "GET /orders/{order_id} order", with REST's route and GraphQL's field. It requires the
// same outcome and returns it in REST's form. sent holds the values of the path, the query and the body by REST's names; GraphQL
// gets the counterparts of REST's ids, and an operation id of its own.
func (w *twins) same(step string, sent vars) map[string]any {
	method, rest, _ := strings.Cut(step, " ")
	path, field, _ := strings.Cut(rest, " ")
	w.covered.Store(field, true)
	if id, _ := sent["operation_id"].(string); uuid.Validate(id) == nil && w.pairs[id] == "" {
		w.pairs[id] = uuid.NewString()
	}
	status, shown := w.overREST(method, path, sent)
	answer := w.overGraphQL(field, sent)
	if failure, failed := shown["error"].(map[string]any); failed {
		require.GreaterOrEqual(w.t, status, 400)
		require.Len(w.t, answer.Errors, 1, "%s %v: %s", step, shown, answer.raw)
		theirs := answer.Errors[0]
		fields := map[string]any{}
		for name, reason := range theirs.Extensions.Fields {
			fields[name] = reason
		}
		blamed, _ := failure["fields"].(map[string]any)
		require.Equal(w.t, failure["code"], string(theirs.Extensions.Code), "%s %s", step, answer.raw)
		require.Equal(w.t, plain(failure["message"]), plain(theirs.Message))
		require.Len(w.t, fields, len(blamed))
		if len(blamed) > 0 {
			require.Equal(w.t, blamed, fields)
		}
		return failure
	}
	result, renamed := answer.ok(field), camel(shown)
	delete(result, "repeated")
	w.pair(renamed, result)
	require.Equal(w.t, plain(renamed), plain(result), step)
	return shown
}

// refused takes a step with each of the values, and requires that both sides refuse it with the code.
func (w *twins) refused(code fault.Code, step string, sent ...vars) {
	for _, one := range sent {
		require.Equal(w.t, string(code), w.same(step, one)["code"], step)
	}
}

func (w *twins) overREST(method, path string, sent vars) (int, map[string]any) {
	left := maps.Clone(sent)
	for name, value := range sent {
		if filled := strings.Replace(path, "{"+name+"}", fmt.Sprint(value), 1); filled != path {
			path = filled
			delete(left, name)
		}
	}
	var body []byte
	switch query := (url.Values{}); {
	case method == http.MethodGet:
		for name, value := range left {
			query.Set(name, fmt.Sprint(value))
		}
		path += "?" + query.Encode()
	case sent != nil && (len(left) == len(sent) || len(left) > 0 || method == http.MethodPatch):
		body = marshal(w.t, left)
	}
	request := graphtest.Got(http.NewRequest(method, w.site.rest+"/api/v1"+path, bytes.NewReader(body)))(w.t)
	request.Header.Set("Content-Type", "application/json")
	if !w.anonymous {
		request.Header.Set("Authorization", "Bearer "+w.rest.Token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	var answer map[string]any
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer
}

func (w *twins) overGraphQL(field string, sent vars) *answer {
	kind, definition := "query", schema.Query.Fields.ForName(field)
	if definition == nil {
		kind, definition = "mutation", schema.Mutation.Fields.ForName(field)
	}
	selected := everything(schema.Types[definition.Type.Name()], 4)
	token := w.graphql.Token
	if w.anonymous {
		token = operatorToken
	}
	if len(definition.Arguments) == 0 {
		return w.ask(token, kind+" { "+field+selected+" }", nil)
	}
	var counterparts []string
	for mine, theirs := range w.pairs {
		counterparts = append(counterparts, strconv.Quote(mine), strconv.Quote(theirs))
	}
	raw := strings.NewReplacer(counterparts...).Replace(string(marshal(w.t, sent)))
	input := map[string]any{}
	require.NoError(w.t, json.Unmarshal([]byte(raw), &input))
	document := kind + "($input: " + definition.Arguments[0].Type.String() + ") { " + field + "(input: $input) " + selected + " }"
	return w.ask(token, document, vars{"input": camel(input)})
}

// pair notes the values that differ, and drops members that are null in GraphQL and absent in REST.
func (w *twins) pair(rest, graphql any) {
	switch rest := rest.(type) {
	case map[string]any:
		shown, _ := graphql.(map[string]any)
		for name, value := range shown {
			if member, sent := rest[name]; sent {
				w.pair(member, value)
			} else if value == nil {
				delete(shown, name)
			}
		}
	case []any:
		shown, _ := graphql.([]any)
		for i := range min(len(rest), len(shown)) {
			w.pair(rest[i], shown[i])
		}
	case string:
		if theirs, ok := graphql.(string); ok && theirs != rest {
			w.pairs[rest] = theirs
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
