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
		get := func(name, value string) *answer {
			return s.send("GET", "/api/v1"+c.path+"?"+name+"="+url.QueryEscape(value), agent.Token, nil)
		}
		bounds := func(name string, most int, refused fault.Code) {
			for _, n := range []int{1, most} {
				get(name, strconv.Itoa(n)).ok(http.StatusOK)
			}
			for _, wrong := range []string{"0", "-1", strconv.Itoa(most + 1), "", "01", "x", "1.0", "1e1", " 1", "99999999999999999999"} {
				require.Contains(t, get(name, wrong).fault(http.StatusBadRequest, refused)["fields"], name, "%s %q", c.path, wrong)
			}
			s.send("GET", "/api/v1"+c.path+"?"+name+"=1&"+name+"=1", agent.Token, nil).fault(http.StatusBadRequest, refused)
		}
		bounds(c.size, c.most, c.refused)
		if c.deepest > 0 {
			bounds("page", c.deepest, c.refused)
			require.EqualValues(t, c.standard, s.send("GET", "/api/v1"+c.path, agent.Token, nil).ok(http.StatusOK)["page_size"], c.path)
		}
		for name, holds := range map[string]bool{"q": c.searched, "specialty": c.special} {
			if holds {
				get(name, strings.Repeat("ж", 160)).ok(http.StatusOK)
				for _, wrong := range []string{url.QueryEscape(strings.Repeat("ж", 161)), "a&" + name + "=a", "%00", "%ff"} {
					refused := s.send("GET", "/api/v1"+c.path+"?"+name+"="+wrong, agent.Token, nil).fault(http.StatusBadRequest, fault.InvalidSearch)
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
	post := s.send("POST", "/api/v1/posts", ada.Token, `{"text":"x"}`).ok(http.StatusCreated)["post"].(map[string]any)
	service := s.offered(ada, "t", "d")
	const title, text = 160, 8000
	handles := 0
	for name, c := range map[string]struct {
		method string
		path   string
		by     *graphtest.Agent
		body   func() map[string]any
		fields []lengths
	}{
		"registration": {"POST", "/bots/register", &graphtest.Agent{}, func() map[string]any { handles++; return registration(fmt.Sprint("newcomer_", handles)) }, []lengths{
			{"display_name", 1, 80, fault.InvalidInput}, {"specialty", 0, 160, fault.InvalidInput}, {"bio", 0, 4000, fault.InvalidInput},
			{"character_description", 0, 4000, fault.InvalidInput},
		}},
		"profile": {"PATCH", "/bots/me", ada, func() map[string]any { return map[string]any{} }, []lengths{
			{"display_name", 1, 80, fault.InvalidInput}, {"specialty", 0, 160, fault.InvalidInput}, {"bio", 0, 4000, fault.InvalidInput},
			{"character_description", 0, 4000, fault.InvalidInput},
		}},
		"post": {"POST", "/posts", ada, func() map[string]any { return map[string]any{"text": "x"} }, []lengths{
			{"text", 1, text, fault.InvalidText}, {"title", 0, title, fault.InvalidTitle},
		}},
		"changed post": {"PATCH", "/posts/" + post["id"].(string), ada, func() map[string]any { return map[string]any{} }, []lengths{
			{"text", 1, text, fault.InvalidText}, {"title", 0, title, fault.InvalidTitle},
		}},
		"order": {"POST", "/orders", ada, func() map[string]any { return s.terms(nil) }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"task": {"POST", "/tasks", ada, func() map[string]any { return job(nil) }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"service": {"POST", "/services", ada, func() map[string]any { return map[string]any{"title": "t", "description": "d"} }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"changed service": {"PATCH", "/services/" + service["id"].(string), ada, func() map[string]any { return map[string]any{} }, []lengths{
			{"title", 1, title, fault.InvalidInput}, {"description", 1, text, fault.InvalidInput},
		}},
		"feedback": {"POST", "/feedback", friend, func() map[string]any { return map[string]any{"kind": "bug"} }, []lengths{
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
					require.Contains(t, send(length).fault(http.StatusBadRequest, f.refused)["fields"], f.field, name)
				}
			}
		}
	}
	for handle, status := range map[string]int{"ab": 400, "abc": 201, "a" + strings.Repeat("1", 31): 201, "a" + strings.Repeat("1", 32): 400} {
		require.Equal(t, status, s.send("POST", "/api/v1/bots/register", "", registration(handle)).status, handle)
	}
}

// The texts of an order in progress are tested at their bounds and one past them (§8).
func TestBoundsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	began := func() map[string]any {
		return s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
	}
	refuse := func(card map[string]any, action, field string, lengths ...int) {
		t.Helper()
		for _, length := range lengths {
			require.Contains(t, s.act(s.contractor, card, action, map[string]any{field: strings.Repeat("ж", length)}).
				fault(http.StatusBadRequest, fault.InvalidInput)["fields"], field)
		}
	}
	card := began()
	refuse(card, "deliver", "result_text", 8001)
	s.step(s.contractor, card, "deliver", map[string]any{"result_text": strings.Repeat("ж", 8000)})
	for _, length := range []int{1, 2000} {
		card = began()
		refuse(card, "dispute", "reason", 0, 2001)
		card = s.step(s.contractor, card, "dispute", map[string]any{"reason": strings.Repeat("ж", length)})
		refuse(card, "propose-refund", "reason", 0, 2001)
		s.step(s.contractor, card, "propose-refund", map[string]any{"reason": strings.Repeat("ж", length)})
	}
	const largest = 909_090_909_091 // with its fee of 10 % it gives the largest reserve
	quote := func(amount int64) *answer {
		return s.send("POST", "/api/v1/orders/quote", s.customer.Token, map[string]any{"amount_minor": amount})
	}
	require.EqualValues(t, 1_000_000_000_000, quote(largest).ok(http.StatusOK)["quote"].(map[string]any)["total_minor"])
	require.Contains(t, quote(largest+1).fault(http.StatusBadRequest, fault.InvalidInput)["fields"], "amount_minor")
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
		a := s.send("POST", "/api/v1/posts", s.customer.Token, map[string]any{"text": "x", "attachment_ids": files(s.customer, attachments.Portfolio, n)})
		require.Equal(t, status, a.status, "%s", a.raw)
		a = s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(map[string]any{"input_attachment_ids": files(s.customer, attachments.Order, n)}))
		require.Equal(t, status, a.status, "%s", a.raw)
	}
	card := s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
	results := files(s.contractor, attachments.Order, 11)
	s.act(s.contractor, card, "deliver", map[string]any{"result_attachment_ids": results}).fault(http.StatusBadRequest, fault.InvalidInput)
	require.Len(t, s.step(s.contractor, card, "deliver", map[string]any{"result_attachment_ids": results[:10]})["result_attachments"], 10)
}

// The parts of an envelope are tested at their bounds and one past them (§8).
func TestBoundsOfAnEnvelope(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other := s.Friends()
	for _, c := range []struct{ nonce, ciphertext, status int }{
		{24, 16, 201}, {24, 16384, 201}, {24, 15, 400}, {24, 16385, 400}, {23, 16, 400}, {25, 16, 400},
	} {
		a := s.send("POST", "/api/v1/messages", one.Token, changed(envelope(one, other), map[string]any{
			"nonce": graphtest.RandomBase64(c.nonce), "ciphertext": graphtest.RandomBase64(c.ciphertext),
		}))
		require.Equal(t, c.status, a.status, "%+v: %s", c, a.raw)
	}
	s.Shift(90*24*time.Hour - time.Minute)
	dialog := "/api/v1/messages?peer=" + other.ID.String()
	s.Exec("UPDATE tokens SET expires_at = stoa_now() + interval '1 day'")
	require.Len(t, s.send("GET", dialog, one.Token, nil).ok(http.StatusOK)["messages"], 2)
	s.Shift(time.Minute)
	require.Empty(t, s.send("GET", dialog, one.Token, nil).ok(http.StatusOK)["messages"], "messages are kept 90 days")
}
