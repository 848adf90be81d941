package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/webhooks"
	"stoa/rest"
	"stoa/rest/resttest"
)

// The public description and contract define the formats that a client needs to seal and bind messages, to open entries of the
// key log and to recompute the hash of an order's terms.
func TestServedPagesHoldTheFormats(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	api := s.get(nil, "/openapi.json").has(200, object{"externalDocs": object{"url": s.url + "/contract.md"}})
	contract := string(s.send("GET", "/contract.md", "", nil).is(200).raw)
	require.NotRegexp(t, `\.md\)|[a-z]+/[a-z]+\.yaml`, contract, "it names no page that only the repository has")
	for _, text := range []string{at(api, "info")["description"].(string), contract} {
		flat := strings.Join(strings.Fields(text), " ")
		for _, format := range []string{
			"stoa nonce direction 1", "stoa nonce message 1", "stoa log handle 1", "stoa log agent 1", "stoa log receipt 1", "terms_sha256", "RFC 8785",
		} {
			require.Contains(t, flat, format)
		}
	}
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// Every example follows its schema, and every JSON request and answer of the API has one.
func TestExamples(t *testing.T) {
	t.Parallel()
	d := resttest.Load()
	for _, o := range d.Operations {
		for place, example := range o.Examples() {
			require.NotNil(t, example.Value, "%s %s: %s has no example", o.Method, o.Path, place)
			require.NoError(t, example.Check(), "%s %s: %s", o.Method, o.Path, place)
		}
	}
}

// The API refuses the bodies that the description refuses: each request example is broken in the ways of a careless client.
func TestRequestsThatTheDescriptionRefuses(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)), graphtest.WithWebhooks(webhooks.SenderConfig{})).withAgent()
	s.RequireOwners()
	for _, o := range resttest.Load().Operations {
		example := requestExample(o)
		if example == nil {
			continue
		}
		path := parameter.ReplaceAllString(o.Path, uuid.NewString())
		for what, body := range spoilt(example) {
			raw := graphtest.Got(json.Marshal(body))(t)
			if o.Accepts(raw) == nil {
				continue // optional members may be missing, an image may be null
			}
			a := s.send(o.Method, path, agent.Token, string(raw))
			require.Equal(t, http.StatusBadRequest, a.status, "%s %s with %s: %s\n%s", o.Method, path, what, raw, a.raw)
		}
	}
}

// requestExample returns the JSON object that is the example of an operation's request, or nil.
func requestExample(o *resttest.Operation) object {
	example, ok := o.Examples()["request"]
	if !ok || o.Method == http.MethodGet {
		return nil
	}
	body, _ := example.Value.(object)
	return body
}

// spoilt returns invalid variants of a body, by the change.
func spoilt(body object) object {
	with := func(name string, value any) object {
		changed := maps.Clone(body)
		changed[name] = value
		return changed
	}
	all := object{"a surplus member": with("surplus", 1), "an array": []any{}, "null": nil, "a number": 1}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		without := maps.Clone(body)
		delete(without, name)
		all["no "+name] = without
		for what, value := range map[string]any{
			"null": nil, "a number": 1.5, "zero": 0, "true": true, "an array": []any{""}, "an object": object{}, "nothing": "",
			"a control character": "\x01", "something long": strings.Repeat("x", 30_000), "many": slices.Repeat(as[[]any](body[name]), 300),
		} {
			if _, isBool := body[name].(bool); !isBool || what != "true" {
				all[what+" for "+name] = with(name, value)
			}
		}
	}
	return all
}

// written are the routes that write texts, each with its members.
var written = map[string]string{
	"PATCH /bots/me": "bio character_description", "POST /posts": "text", "PATCH /posts/{post_id}": "text", "POST /tasks": "description",
	"POST /services": "description", "PATCH /services/{service_id}": "description", "POST /tasks/{task_id}/responses": "text",
	"PATCH /tasks/{task_id}/responses/{response_id}": "text", "POST /orders/{order_id}/drafts": "text", "POST /feedback": "text",
}

// Each text of an agent counts towards two limits, for stored text and for text written in a day. A text over a limit is refused.
func TestEveryTextIsBounded(t *testing.T) {
	t.Parallel()
	for code, quotas := range map[fault.Code]limits.Quotas{
		fault.StorageQuotaExceeded: {TextBytes: 4000}, fault.WriteLimited: {TextBytesPerDay: 4000},
	} {
		world, found := graphtest.New(t, graphtest.WithQuotas(quotas)), 0
		for _, row := range rest.Rows(world.Graph) {
			route := row.Method + " " + strings.TrimPrefix(row.Path, "/api/v1")
			members := strings.Fields(written[route])
			found += len(members)
			for i := range 2 * len(members) {
				c := lifecycleCases[route][0].with(object{members[i/2]: strings.Repeat("a", 3000)})
				s := tradeOn(serve(t, world, rest.Config{}))
				if s.me = s.customer; c.contractor {
					s.me = s.contractor
				}
				requests := []func() *answer{
					c.prepare(s, row),
					func() *answer { return s.post(s.me, "/posts", object{"text": strings.Repeat("b", 1500)}) },
				}
				if i%2 == 1 {
					slices.Reverse(requests)
				}
				first := requests[0]()
				require.Less(t, first.status, 300, "%s: %s", route, first.raw)
				refused := requests[1]()
				refused.fault(code)
				require.Contains(t, string(refused.raw), "than 4000 bytes", route)
				require.Regexp(t, "[Tt]ext", string(refused.raw), route)
			}
		}
		require.Equal(t, len(written)+1, found)
	}
}

// Every numbered list is tested at the last page and the largest size, and one past them (§8).
func TestBoundsOfPages(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for path, deepest := range map[string]int{
		"/bots": 1000, "/bots/" + agent.ID.String(): 1000, "/posts": 100_000, "/orders": 1000, "/tasks": 1000, "/services": 1000,
	} {
		for name, most := range map[string]int{"page": deepest, "page_size": 50} {
			s.get(agent, fmt.Sprint(path, "?", name, "=", most)).ok(200)
			refused := s.get(agent, fmt.Sprint(path, "?", name, "=", most+1))
			require.Contains(t, refused.fault(fault.InvalidPagination)["fields"], name, path)
		}
	}
}

// Texts of a passport, an order and a task are tested at their bounds and one past them, with characters of two bytes (§8). The
// domains test the others.
func TestBoundsOfTexts(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	type lengths struct {
		field       string
		least, most int
	}
	passport := []lengths{{"display_name", 1, 80}, {"specialty", 0, 160}, {"bio", 0, 4000}, {"character_description", 0, 4000}}
	texts := []lengths{{"title", 1, 160}, {"description", 1, 8000}}
	for route, c := range map[string]struct {
		by     *graphtest.Agent
		body   func() object
		fields []lengths
	}{
		"POST /bots/register": {nil, func() object { return registration(newHandle()) }, passport},
		"PATCH /bots/me":      {s.customer, func() object { return object{} }, passport},
		"POST /orders":        {s.customer, func() object { return s.terms(nil) }, texts},
		"POST /tasks":         {s.customer, func() object { return job(nil) }, texts},
	} {
		method, path, _ := strings.Cut(route, " ")
		for _, f := range c.fields {
			send := func(length int) *answer {
				return s.call(method, c.by, path, changed(c.body(), object{f.field: strings.Repeat("ж", length)}))
			}
			for _, length := range []int{f.least, f.most} {
				require.Less(t, send(length).status, 300, "%s: %s of %d", route, f.field, length)
			}
			for _, length := range []int{f.least - 1, f.most + 1} {
				if length >= 0 {
					require.Contains(t, send(length).fault(fault.InvalidInput)["fields"], f.field, route)
				}
			}
		}
	}
	for handle, status := range map[string]int{"ab": 400, "abc": 201, "a" + strings.Repeat("1", 31): 201, "a" + strings.Repeat("1", 32): 400} {
		s.post(nil, "/bots/register", registration(handle)).is(status)
	}
}
