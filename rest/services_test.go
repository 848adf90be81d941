package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

const servicesPath = "/api/v1/services"

// offered lets an agent add a service to the catalogue.
func (s *site) offered(by *graphtest.Agent, title, description string) object {
	s.t.Helper()
	return s.post(by, servicesPath, object{"title": title, "description": description}).ok(201)["service"].(object)
}

// A price is shown with today's fee. null removes it. Together with the fee it may be too large.
func TestPricesOfServices(t *testing.T) {
	t.Parallel()
	s, ada := newSite(t).withAgent()
	offer := func(amount any) *answer {
		return s.post(ada, servicesPath, object{"title": "t", "description": "d", "amount_minor": amount})
	}
	made := offer(4005).has(201, object{"service": object{
		"amount_minor": 4005, "fee_minor": 401, "total_minor": 4406, "orders": 0, "actions": []any{},
	}})
	path := servicesPath + "/" + of(made["service"].(object))
	s.Exec("UPDATE settings SET fee_bps = 0")
	s.get(nil, path).has(200, object{"service": object{"fee_minor": 0, "total_minor": 4005}})
	s.Exec("UPDATE settings SET fee_bps = 1000")
	none := object{"amount_minor": nil, "fee_minor": nil, "total_minor": nil, "title": "t"}
	offer(nil).has(201, object{"service": none})
	for _, c := range []struct{ change, want object }{
		{object{"amount_minor": nil}, none},
		{object{"title": "t"}, none},
		{object{"amount_minor": 1}, object{"total_minor": 1, "title": "t"}},
		{object{"title": "u"}, object{"amount_minor": 1, "title": "u"}},
		{object{"amount_minor": 909090909091}, object{"total_minor": 1e12}},
	} {
		s.patch(ada, path, c.change).has(200, object{"service": c.want})
	}
	for _, wrong := range []any{0, -1, 1.5, "1", true, 909090909092, int64(1e13)} {
		s.patch(ada, path, object{"amount_minor": wrong}).fault(fault.InvalidInput)
		offer(wrong).fault(fault.InvalidInput)
	}
}

// A catalogue lists one agent's services, with and without a search text.
func TestServicesOfOneAgent(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, ben := s.Agent(), s.Agent()
	odes, sonnets := s.offered(ada, "Odes", "d"), s.offered(ada, "Sonnets", "d")
	s.offered(ben, "Sonnets", "d")
	id := ada.ID.String()
	list := func(query string) any { return s.get(nil, servicesPath+"?"+query).ok(200)["services"] }
	for query, want := range map[string][]any{
		"bot_id=" + id: {sonnets, odes}, "bot_id=" + strings.ToUpper(id): {sonnets, odes}, "q=SONN&bot_id=" + id: {sonnets},
		"page=2&page_size=1&bot_id=" + id: {odes}, "bot_id=" + uuid.NewString(): {},
	} {
		require.Equal(t, want, list(query), query)
	}
	s.Show(ada, false)
	require.Empty(t, list("bot_id="+id))
	for _, wrong := range []string{"bot_id=x", "bot_id=", "bot_id=" + id + "&bot_id=" + id} {
		s.get(nil, servicesPath+"?"+wrong).fault(fault.InvalidID)
	}
}

// The actions of a service depend on the reader's contact with the agent; the listed actions work unchanged.
func TestActionsOfServices(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	seller, friend, stranger, pending := s.contractor, s.customer, s.Agent(), s.Agent()
	s.Asked(pending, seller)
	blocked := s.Agent()
	s.Block(seller, s.Befriend(blocked, seller))
	priced := s.post(seller, servicesPath, object{"title": "Odes", "description": "d", "amount_minor": 4000}).ok(201)["service"].(object)
	open := s.offered(seller, "Sonnets", "d")
	actions := func(by *graphtest.Agent, service object) []any {
		one := s.get(by, servicesPath+"/"+of(service)).ok(200)["service"].(object)["actions"]
		for _, listed := range s.get(by, servicesPath+"?bot_id="+seller.ID.String()).ok(200)["services"].([]any) {
			if listed := listed.(object); of(listed) == of(service) {
				require.Equal(t, one, listed["actions"])
			}
		}
		return one.([]any)
	}
	order := object{"name": "create_order", "method": "POST", "path": "/api/v1/orders", "body": object{
		"operation_id": nil, "contractor_id": seller.ID.String(), "service_id": of(priced), "title": "Odes", "description": nil, "deadline": nil,
		"amount_minor": 4000.0, "confirmed_total_minor": 4400.0,
	}}
	ask := object{"name": "request_friendship", "method": "POST", "path": "/api/v1/contacts/requests", "body": object{
		"recipient_id": seller.ID.String(),
	}}
	require.Equal(t, []any{order}, actions(friend, priced))
	require.Equal(t, []any{ask}, actions(stranger, priced))
	for _, by := range []*graphtest.Agent{nil, seller, pending, blocked} {
		require.Empty(t, actions(by, priced))
	}
	require.Empty(t, actions(friend, open), "a friend without a price")

	body := changed(order["body"].(object), object{
		"operation_id": uuid.NewString(), "description": "An ode.", "deadline": "2999-01-01T00:00:00Z",
	})
	s.post(friend, "/orders", body).has(201, object{"order": object{"service_id": of(priced)}})
	s.post(stranger, "/contacts/requests", ask["body"]).ok(201)
	require.Empty(t, actions(stranger, priced))
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", friend.ID)
	require.Empty(t, actions(friend, priced))
}

// An order may name a listed service of its contractor; price and title are still negotiable. The service counts its accepted
// orders.
func TestOrdersOfServices(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	service, foreign := s.offered(s.contractor, "Odes", "d"), s.offered(s.customer, "Odes", "d")
	named := func(service object) object { return object{"service_id": strings.ToUpper(of(service))} }
	for _, wrong := range []any{of(foreign), uuid.NewString()} {
		s.post(s.customer, "/orders", s.terms(object{"service_id": wrong})).fault(fault.NotFound)
	}
	s.post(s.customer, "/orders", s.terms(object{"service_id": "x"})).fault(fault.InvalidInput)
	asked := changed(s.asked(), object{"service_id": of(service)})
	require.Equal(t, of(service), s.offer(s.contractor, asked)["service_id"], "the contractor may name its own")

	terms := s.terms(named(service))
	card := s.offer(s.customer, terms)
	require.Equal(t, of(service), card["service_id"])
	s.post(s.customer, "/orders", changed(terms, object{"service_id": of(service)})).ok(200)
	s.post(s.customer, "/orders", changed(terms, object{"service_id": of(foreign)})).fault("idempotency_conflict")
	for _, step := range []string{"accept", "start"} {
		card = s.step(s.contractor, card, step, nil)
	}
	card = s.step(s.contractor, card, "deliver", object{"result_text": "Done."})
	s.get(nil, servicesPath+"/"+of(service)).has(200, object{"service": object{"orders": 0}})
	card = s.step(s.customer, card, "complete", nil)
	require.Equal(t, of(service), card["service_id"])
	s.get(nil, servicesPath+"/"+of(service)).has(200, object{"service": object{"orders": 1}})

	s.Show(s.contractor, false)
	s.post(s.customer, "/orders", s.terms(named(service))).fault(fault.NotFound)
	s.Show(s.contractor, true)
	s.delete(s.contractor, servicesPath+"/"+of(service)).ok(200)
	s.post(s.customer, "/orders", s.terms(named(service))).fault(fault.NotFound)
	s.get(s.customer, "/orders/"+of(card)).has(200, object{"order": object{"service_id": of(service)}})
}

// pdfOf returns a PDF with one empty page.
func pdfOf(t testing.TB) []byte {
	t.Helper()
	return documentOf("<< /Author (Ada) >>", "<< /Type /Catalog /Pages 3 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 72 72] >>")
}

// documentOf returns a PDF with the given objects; the first is its information, the second its catalog.
func documentOf(objects ...string) []byte {
	b := []byte("%PDF-1.4\n")
	var at []int
	for i, object := range objects {
		at = append(at, len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := len(b)
	b = append(b, fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)...)
	for _, offset := range at {
		b = fmt.Appendf(b, "%010d 00000 n \n", offset)
	}
	return fmt.Appendf(b, "trailer\n<< /Size %d /Root 2 0 R /Info 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
}
