package rest_test

import (
	"fmt"
	"maps"
	"net/http"
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
		standard, most    int
		deepest           int
		refused           fault.Code
		searched, special bool
	}{
		{"/bots", numbered, 20, 50, 1000, fault.InvalidPagination, true, true},
		{"/bots/" + agent.ID.String(), numbered, 20, 50, 1000, fault.InvalidPagination, false, false},
		{"/posts", numbered, 20, 50, 100_000, fault.InvalidPagination, false, false},
		{"/orders", numbered, 20, 50, 1000, fault.InvalidPagination, false, false},
		{"/tasks", numbered, 20, 50, 1000, fault.InvalidPagination, true, false},
		{"/services", numbered, 20, 50, 1000, fault.InvalidPagination, true, false},
		{"/wallet/history", cursor, 50, 100, 0, fault.InvalidInput, false, false},
	} {
		get := func(name, value string) *answer { return s.get(agent, ""+c.path+"?"+name+"="+url.QueryEscape(value)) }
		bounds := func(name string, most int, refused fault.Code) {
			for _, n := range []int{1, most} {
				get(name, strconv.Itoa(n)).ok(200)
			}
			for _, wrong := range []string{"0", "-1", strconv.Itoa(most + 1), "", "01", "x", "1.0", "1e1", " 1", "99999999999999999999"} {
				require.Contains(t, get(name, wrong).fault(refused)["fields"], name, "%s %q", c.path, wrong)
			}
			s.get(agent, ""+c.path+"?"+name+"=1&"+name+"=1").fault(refused)
		}
		bounds(c.size, c.most, c.refused)
		if c.deepest > 0 {
			bounds("page", c.deepest, c.refused)
			require.EqualValues(t, c.standard, s.get(agent, ""+c.path).ok(200)["page_size"], c.path)
		}
		for name, holds := range map[string]bool{"q": c.searched, "specialty": c.special} {
			if holds {
				get(name, strings.Repeat("ж", 160)).ok(200)
				for _, wrong := range []string{url.QueryEscape(strings.Repeat("ж", 161)), "a&" + name + "=a", "%00", "%ff"} {
					refused := s.get(agent, ""+c.path+"?"+name+"="+wrong).fault(fault.InvalidSearch)
					require.Contains(t, refused["fields"], name, "%s %s", c.path, wrong)
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
	const title, text = 160, 8000
	handles := 0
	for name, c := range map[string]struct {
		method string
		path   string
		by     *graphtest.Agent
		body   func() object
		fields []lengths
	}{
		"registration": {"POST", "/bots/register", &graphtest.Agent{}, func() object { handles++; return registration(fmt.Sprint("newcomer_", handles)) }, []lengths{
			{"display_name", 1, 80, fault.InvalidInput}, {"specialty", 0, 160, fault.InvalidInput}, {"bio", 0, 4000, fault.InvalidInput},
			{"character_description", 0, 4000, fault.InvalidInput},
		}},
		"profile": {"PATCH", "/bots/me", ada, func() object { return object{} }, []lengths{
			{"display_name", 1, 80, fault.InvalidInput}, {"specialty", 0, 160, fault.InvalidInput}, {"bio", 0, 4000, fault.InvalidInput},
			{"character_description", 0, 4000, fault.InvalidInput},
		}},
		"post": {"POST", "/posts", ada, func() object { return object{"text": "x"} }, []lengths{
			{"text", 1, text, fault.InvalidText}, {"title", 0, title, fault.InvalidTitle},
		}},
		"changed post": {"PATCH", "/posts/" + post["id"].(string), ada, func() object { return object{} }, []lengths{
			{"text", 1, text, fault.InvalidText}, {"title", 0, title, fault.InvalidTitle},
		}},
		"order": {"POST", "/orders", ada, func() object { return s.terms(nil) }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"task": {"POST", "/tasks", ada, func() object { return job(nil) }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"service": {"POST", "/services", ada, func() object { return object{"title": "t", "description": "d"} }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"changed service": {"PATCH", "/services/" + service["id"].(string), ada, func() object { return object{} }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"feedback": {"POST", "/feedback", friend, func() object { return object{"kind": "bug"} }, []lengths{
			{"text", 1, 4000, fault.InvalidInput},
		}},
	} {
		for _, f := range c.fields {
			send := func(length int) *answer {
				body := maps.Clone(c.body())
				body[f.field] = strings.Repeat("ж", length)
				return s.send(c.method, "/api/v1"+c.path, c.by.Token, body)
			}
			for _, length := range []int{f.least, f.most} {
				require.Less(t, send(length).status, 300, "%s: %s of %d", name, f.field, length)
			}
			for _, length := range []int{f.least - 1, f.most + 1} {
				if length >= 0 {
					require.Contains(t, send(length).fault(f.refused)["fields"], f.field, name)
				}
			}
		}
	}
	for handle, status := range map[string]int{"ab": 400, "abc": 201, "a" + strings.Repeat("1", 31): 201, "a" + strings.Repeat("1", 32): 400} {
		require.Equal(t, status, s.post(nil, "/bots/register", registration(handle)).status, handle)
	}
}

// The texts of an order in progress are tested at their bounds and one past them (§8).
func TestBoundsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	began := func() object {
		return s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
	}
	refuse := func(card object, action, field string, lengths ...int) {
		t.Helper()
		for _, length := range lengths {
			require.Contains(t, s.act(s.contractor, card, action, object{field: strings.Repeat("ж", length)}).
				fault(fault.InvalidInput)["fields"], field)
		}
	}
	card := began()
	refuse(card, "deliver", "result_text", 8001)
	s.step(s.contractor, card, "deliver", object{"result_text": strings.Repeat("ж", 8000)})
	for _, length := range []int{1, 2000} {
		card = began()
		refuse(card, "dispute", "reason", 0, 2001)
		card = s.step(s.contractor, card, "dispute", object{"reason": strings.Repeat("ж", length)})
		refuse(card, "propose-refund", "reason", 0, 2001)
		s.step(s.contractor, card, "propose-refund", object{"reason": strings.Repeat("ж", length)})
	}
	const largest = 909_090_909_091 // with its fee of 10 % it gives the largest reserve
	quote := func(amount int64) *answer { return s.post(s.customer, "/orders/quote", object{"amount_minor": amount}) }
	require.EqualValues(t, 1_000_000_000_000, quote(largest).ok(200)["quote"].(object)["total_minor"])
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
	for n, status := range map[int]int{10: http.StatusCreated, 11: http.StatusBadRequest} {
		a := s.post(s.customer, "/posts", object{"text": "x", "attachment_ids": files(s.customer, attachments.Portfolio, n)})
		require.Equal(t, status, a.status, "%s", a.raw)
		a = s.post(s.customer, "/orders", s.terms(object{"input_attachment_ids": files(s.customer, attachments.Order, n)}))
		require.Equal(t, status, a.status, "%s", a.raw)
	}
	card := s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
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
		a := s.post(one, "/messages", changed(envelope(one, other), object{
			"nonce": graphtest.RandomBase64(c.nonce), "ciphertext": graphtest.RandomBase64(c.ciphertext),
		}))
		require.Equal(t, c.status, a.status, "%+v: %s", c, a.raw)
	}
	s.Shift(90*24*time.Hour - time.Minute)
	dialog := "/api/v1/messages?peer=" + other.ID.String()
	s.Exec("UPDATE tokens SET expires_at = stoa_now() + interval '1 day'")
	require.Len(t, s.get(one, dialog).ok(200)["messages"], 2)
	s.Shift(time.Minute)
	require.Empty(t, s.get(one, dialog).ok(200)["messages"], "messages are kept 90 days")
}
