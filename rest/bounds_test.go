package rest_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// Page sizes and ranges of every list are tested at their bounds and one past them (§8).
func TestBoundsOfPages(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	const numbered, cursor = "page_size", "limit"
	for _, c := range []struct {
		path, size        string
		most, deepest     int
		refused           fault.Code
		searched, special bool
	}{
		{"/bots", numbered, 50, 1000, fault.InvalidPagination, true, true},
		{"/bots/" + agent.ID.String(), numbered, 50, 1000, fault.InvalidPagination, false, false},
		{"/posts", numbered, 50, 100_000, fault.InvalidPagination, false, false},
		{"/orders", numbered, 50, 1000, fault.InvalidPagination, false, false},
		{"/tasks", numbered, 50, 1000, fault.InvalidPagination, true, false},
		{"/services", numbered, 50, 1000, fault.InvalidPagination, true, false},
		{"/wallet/history", cursor, 100, 0, fault.InvalidInput, false, false},
	} {
		get := func(query string) *answer { return s.get(agent, c.path+"?"+query) }
		bounds := func(name string, most int) {
			for _, n := range []int{1, most} {
				get(fmt.Sprint(name, "=", n)).ok(200)
			}
			for _, wrong := range []string{"0", "-1", strconv.Itoa(most + 1), "", "01", "x", "1.0", "1e1", " 1", "99999999999999999999"} {
				require.Contains(t, get(name + "=" + url.QueryEscape(wrong)).fault(c.refused)["fields"], name, "%s %q", c.path, wrong)
			}
			get(name + "=1&" + name + "=1").fault(c.refused)
		}
		if bounds(c.size, c.most); c.deepest > 0 {
			bounds("page", c.deepest)
			s.get(agent, c.path).has(200, object{"page_size": 20})
		}
		for name, holds := range map[string]bool{"q": c.searched, "specialty": c.special} {
			if holds {
				get(name + "=" + url.QueryEscape(strings.Repeat("ж", 160))).ok(200)
				for _, wrong := range []string{url.QueryEscape(strings.Repeat("ж", 161)), "a&" + name + "=a", "%00", "%ff"} {
					require.Contains(t, get(name + "=" + wrong).fault(fault.InvalidSearch)["fields"], name, "%s %s", c.path, wrong)
				}
			}
		}
	}
}

// lengths are the bounds of a text in characters.
type lengths struct {
	field       string
	least, most int
	refused     fault.Code
}

// Texts of every kind are tested at their bounds and one past them, with characters of two bytes (§8).
func TestBoundsOfTexts(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, friend := s.customer, s.contractor
	post := s.post(ada, "/posts", `{"text":"x"}`).ok(201)["post"].(object)
	service := s.offered(ada, "t", "d")
	passport := []lengths{
		{"display_name", 1, 80, fault.InvalidInput}, {"specialty", 0, 160, fault.InvalidInput}, {"bio", 0, 4000, fault.InvalidInput},
		{"character_description", 0, 4000, fault.InvalidInput},
	}
	posts := []lengths{{"text", 1, 8000, fault.InvalidText}, {"title", 0, 160, fault.InvalidTitle}}
	texts := []lengths{{"title", 1, 160, fault.InvalidInput}, {"description", 1, 8000, fault.InvalidInput}}
	nothing := func() object { return object{} }
	for route, c := range map[string]struct {
		by     *graphtest.Agent
		body   func() object
		fields []lengths
	}{
		"POST /bots/register":            {nil, func() object { return registration(newHandle()) }, passport},
		"PATCH /bots/me":                 {ada, nothing, passport},
		"POST /posts":                    {ada, func() object { return object{"text": "x"} }, posts},
		"PATCH /posts/" + of(post):       {ada, nothing, posts},
		"POST /orders":                   {ada, func() object { return s.terms(nil) }, texts},
		"POST /tasks":                    {ada, func() object { return job(nil) }, texts},
		"POST /services":                 {ada, func() object { return object{"title": "t", "description": "d"} }, texts},
		"PATCH /services/" + of(service): {ada, nothing, texts},
		"POST /feedback":                 {friend, func() object { return object{"kind": "bug"} }, []lengths{{"text", 1, 4000, fault.InvalidInput}}},
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
					require.Contains(t, send(length).fault(f.refused)["fields"], f.field, route)
				}
			}
		}
	}
	for handle, status := range map[string]int{"ab": 400, "abc": 201, "a" + strings.Repeat("1", 31): 201, "a" + strings.Repeat("1", 32): 400} {
		s.post(nil, "/bots/register", registration(handle)).is(status)
	}
}

// The texts of an order in progress are tested at their bounds and one past them (§8).
func TestBoundsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	refuse := func(card object, action, field string, lengths ...int) {
		t.Helper()
		for _, length := range lengths {
			require.Contains(t, s.act(s.contractor, card, action, object{field: strings.Repeat("ж", length)}).
				fault(fault.InvalidInput)["fields"], field)
		}
	}
	card := s.started()
	refuse(card, "deliver", "result_text", 8001)
	s.step(s.contractor, card, "deliver", object{"result_text": strings.Repeat("ж", 8000)})
	for _, length := range []int{1, 2000} {
		card = s.started()
		refuse(card, "dispute", "reason", 0, 2001)
		card = s.step(s.contractor, card, "dispute", object{"reason": strings.Repeat("ж", length)})
		refuse(card, "propose-refund", "reason", 0, 2001)
		s.step(s.contractor, card, "propose-refund", object{"reason": strings.Repeat("ж", length)})
	}
	const largest = 909_090_909_091 // with its fee of 10 % it gives the largest reserve
	quote := func(amount int64) *answer { return s.post(s.customer, "/orders/quote", object{"amount_minor": amount}) }
	quote(largest).has(200, object{"quote": object{"total_minor": 1e12}})
	require.Contains(t, quote(largest + 1).fault(fault.InvalidInput)["fields"], "amount_minor")
}

// A post, an order's inputs and an order's results have at most ten files each (§8).
func TestBoundsOfFilesInASet(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	files := func(by *graphtest.Agent, purpose attachments.Purpose, n int) []string {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = s.File(by, purpose).String()
		}
		return ids
	}
	for n, status := range map[int]int{10: 201, 11: 400} {
		s.post(s.customer, "/posts", object{"text": "x", "attachment_ids": files(s.customer, attachments.Portfolio, n)}).is(status)
		s.post(s.customer, "/orders", s.terms(object{"input_attachment_ids": files(s.customer, attachments.Order, n)})).is(status)
	}
	card := s.started()
	results := files(s.contractor, attachments.Order, 11)
	s.act(s.contractor, card, "deliver", object{"result_attachment_ids": results}).fault(fault.InvalidInput)
	require.Len(t, s.step(s.contractor, card, "deliver", object{"result_attachment_ids": results[:10]})["result_attachments"], 10)
}

// The parts of an envelope are tested at their bounds and one past them (§8).
func TestBoundsOfAnEnvelope(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other := s.Friends()
	for _, c := range []struct{ nonce, ciphertext, status int }{
		{24, 16, 201}, {24, 16384, 201}, {24, 15, 400}, {24, 16385, 400}, {23, 16, 400}, {25, 16, 400},
	} {
		s.post(one, "/messages", changed(envelope(one, other), object{
			"nonce": graphtest.RandomBase64(c.nonce), "ciphertext": graphtest.RandomBase64(c.ciphertext),
		})).is(c.status)
	}
	s.Shift(90*24*time.Hour - time.Minute)
	dialog := "/api/v1/messages?peer=" + other.ID.String()
	s.Exec("UPDATE tokens SET expires_at = stoa_now() + interval '1 day'")
	require.Len(t, s.get(one, dialog).ok(200)["messages"], 2)
	s.Shift(time.Minute)
	require.Empty(t, s.get(one, dialog).ok(200)["messages"], "messages are kept 90 days")
}
