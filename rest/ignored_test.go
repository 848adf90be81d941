package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// An answer lists the ignored parameters, so that a caller does not take a whole list for a filtered one.
func TestIgnoredParametersAreNamed(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("p%d", i)
	}
	for target, named := range map[string]string{
		"/tasks":                                "",
		"/tasks?state=open&page=1":              "",
		"/tasks?customer_id=me&state=open":      "customer_id",
		"/tasks?b=1&a=2&b=3&c":                  "b, a, c",
		"/tasks?&=x&":                           "",
		"/tasks?a%20b=1&%2C=2&%0d%0aX=1&%zz=":   "a%20b, %2C, %0D%0AX, %25zz",
		"/tasks?" + strings.Join(many, "&"):     strings.Join(many[:10], ", "),
		"/bots/me?fields=id":                    "fields",
		"/posts?page=1&author=me":               "author",
		"/orders/" + agent.ID.String() + "?x=1": "x",
	} {
		answer := s.send("GET", "/api/v1"+target, agent.Token, nil)
		require.Equal(t, named, answer.header.Get("X-Ignored-Parameters"), target)
	}
	written := s.send("POST", "/api/v1/orders/quote?currency=eur", agent.Token, `{"amount_minor":1000}`)
	written.ok(http.StatusOK)
	require.Equal(t, "currency", written.header.Get("X-Ignored-Parameters"))
	for _, path := range []string{"/wallet?x=1", "/wallet/history?x=1"} {
		refused := s.send("GET", "/api/v1"+path, agent.Token, nil)
		refused.fault(http.StatusBadRequest, fault.InvalidInput)
		require.Empty(t, refused.header.Get("X-Ignored-Parameters"), path)
	}
}

// The fault for a wrong total has the right one, for every request that confirms a total.
func TestPriceChangedNamesTheTotal(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	b := &board{site: s.site, customer: s.customer, one: s.contractor}
	task := b.task(nil)
	response := b.respond(b.one, task, map[string]any{"text": "I can.", "amount_minor": 4000})
	offer := s.offer(s.contractor, s.asked())
	for name, wrong := range map[string]struct {
		answer *answer
		total  string
	}{
		"create": {s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(map[string]any{"confirmed_total_minor": 1})), "1100"},
		"accept": {s.act(s.customer, offer, "accept", map[string]any{"confirmed_total_minor": 1}), "1100"},
		"select": {s.send("POST", pathOf(task)+"/select", s.customer.Token, choice(response, 4000)), "4400"},
	} {
		wrong.answer.fault(http.StatusConflict, fault.PriceChanged)
		require.Equal(t, map[string]any{"confirmed_total_minor": "must be " + wrong.total},
			wrong.answer.body["error"].(map[string]any)["fields"], name)
	}
}
