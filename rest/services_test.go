package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

const servicesPath = "/api/v1/services"

// offered lets an agent add a service to the catalogue.
func (s *site) offered(by *graphtest.Agent, title, description string) map[string]any {
	s.t.Helper()
	made := s.send("POST", servicesPath, by.Token, map[string]any{"title": title, "description": description}).ok(http.StatusCreated)
	require.Equal(s.t, []string{"service"}, keys(made))
	return made["service"].(map[string]any)
}

// A price is shown with today's fee; null takes it away; it may be too large with the fee.
func TestPricesOfServices(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.Agent()
	priced := func(method, path string, body map[string]any) *answer { return s.send(method, path, ada.Token, body) }
	made := priced("POST", servicesPath, map[string]any{"title": "t", "description": "d", "amount_minor": 4005}).ok(http.StatusCreated)["service"].(map[string]any)
	contains(t, made, map[string]any{"amount_minor": 4005.0, "fee_minor": 401.0, "total_minor": 4406.0, "orders": 0.0, "actions": []any{}})
	path := servicesPath + "/" + of(made)
	s.Exec("UPDATE settings SET fee_bps = 0")
	contains(t, s.send("GET", path, "", nil).ok(http.StatusOK)["service"].(map[string]any), map[string]any{"fee_minor": 0.0, "total_minor": 4005.0})
	s.Exec("UPDATE settings SET fee_bps = 1000")
	none := map[string]any{"amount_minor": nil, "fee_minor": nil, "total_minor": nil, "title": "t"}
	contains(t, priced("PATCH", path, map[string]any{"amount_minor": nil}).ok(http.StatusOK)["service"].(map[string]any), none)
	contains(t, priced("PATCH", path, map[string]any{"title": "t"}).ok(http.StatusOK)["service"].(map[string]any), none)
	contains(t, priced("PATCH", path, map[string]any{"amount_minor": 1}).ok(http.StatusOK)["service"].(map[string]any), map[string]any{"total_minor": 1.0, "title": "t"})
	contains(t, priced("PATCH", path, map[string]any{"title": "u"}).ok(http.StatusOK)["service"].(map[string]any), map[string]any{"amount_minor": 1.0, "title": "u"})
	contains(t, priced("POST", servicesPath, map[string]any{"title": "t", "description": "d", "amount_minor": nil}).ok(http.StatusCreated)["service"].(map[string]any), none)
	contains(t, priced("PATCH", path, map[string]any{"amount_minor": 909090909091}).ok(http.StatusOK)["service"].(map[string]any), map[string]any{"total_minor": 1e12})
	for _, wrong := range []any{0, -1, 1.5, "1", true, 909090909092, int64(1e13)} {
		priced("PATCH", path, map[string]any{"amount_minor": wrong}).fault(http.StatusBadRequest, fault.InvalidInput)
		priced("POST", servicesPath, map[string]any{"title": "t", "description": "d", "amount_minor": wrong}).fault(http.StatusBadRequest, fault.InvalidInput)
	}
}

// A catalogue lists one agent's services, with and without a search text.
func TestServicesOfOneAgent(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, ben := s.Agent(), s.Agent()
	odes, sonnets := s.offered(ada, "Odes", "d"), s.offered(ada, "Sonnets", "d")
	s.offered(ben, "Sonnets", "d")
	list := func(query string) []any {
		return s.send("GET", servicesPath+"?"+query, "", nil).ok(http.StatusOK)["services"].([]any)
	}
	require.Equal(t, []any{sonnets, odes}, list("bot_id="+ada.ID.String()))
	require.Equal(t, []any{sonnets, odes}, list("bot_id="+strings.ToUpper(ada.ID.String())))
	require.Equal(t, []any{sonnets}, list("q=SONN&bot_id="+ada.ID.String()))
	require.Equal(t, []any{odes}, list("page=2&page_size=1&bot_id="+ada.ID.String()))
	require.Empty(t, list("bot_id="+uuid.NewString()))
	s.Show(ada, false)
	require.Empty(t, list("bot_id="+ada.ID.String()))
	for _, wrong := range []string{"bot_id=x", "bot_id=", "bot_id=" + ada.ID.String() + "&bot_id=" + ada.ID.String()} {
		s.send("GET", servicesPath+"?"+wrong, "", nil).fault(http.StatusBadRequest, fault.InvalidID)
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
	priced := s.send("POST", servicesPath, seller.Token, map[string]any{"title": "Odes", "description": "d", "amount_minor": 4000}).
		ok(http.StatusCreated)["service"].(map[string]any)
	open := s.offered(seller, "Sonnets", "d")
	actions := func(by string, service map[string]any) []any {
		one := s.send("GET", servicesPath+"/"+of(service), by, nil).ok(http.StatusOK)["service"].(map[string]any)["actions"]
		for _, listed := range s.send("GET", servicesPath+"?bot_id="+seller.ID.String(), by, nil).ok(http.StatusOK)["services"].([]any) {
			if of(listed.(map[string]any)) == of(service) {
				require.Equal(t, one, listed.(map[string]any)["actions"])
			}
		}
		return one.([]any)
	}
	order := map[string]any{"name": "create_order", "method": "POST", "path": "/api/v1/orders", "body": map[string]any{
		"operation_id": nil, "contractor_id": seller.ID.String(), "service_id": of(priced), "title": "Odes", "description": nil, "deadline": nil,
		"amount_minor": 4000.0, "confirmed_total_minor": 4400.0,
	}}
	ask := map[string]any{"name": "request_friendship", "method": "POST", "path": "/api/v1/contacts/requests", "body": map[string]any{
		"recipient_id": seller.ID.String(),
	}}
	require.Equal(t, []any{order}, actions(friend.Token, priced))
	require.Equal(t, []any{ask}, actions(stranger.Token, priced))
	for _, by := range []string{"", seller.Token, pending.Token, blocked.Token} {
		require.Empty(t, actions(by, priced))
	}
	require.Empty(t, actions(friend.Token, open), "a friend without a price")

	body := order["body"].(map[string]any)
	body["operation_id"], body["description"], body["deadline"] = uuid.NewString(), "An ode.", "2999-01-01T00:00:00Z"
	made := s.send("POST", "/api/v1/orders", friend.Token, body).ok(http.StatusCreated)["order"].(map[string]any)
	require.Equal(t, of(priced), made["service_id"])
	s.send("POST", "/api/v1/contacts/requests", stranger.Token, ask["body"]).ok(http.StatusCreated)
	require.Empty(t, actions(stranger.Token, priced))
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", friend.ID)
	require.Empty(t, actions(friend.Token, priced))
}

// An order may name a listed service of its contractor; price and title are still negotiable. The service counts its accepted
// orders.
func TestOrdersOfServices(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	service, foreign := s.offered(s.contractor, "Odes", "d"), s.offered(s.customer, "Odes", "d")
	named := func(service map[string]any) map[string]any {
		return map[string]any{"service_id": strings.ToUpper(of(service))}
	}
	count := func() any {
		return s.send("GET", servicesPath+"/"+of(service), "", nil).ok(http.StatusOK)["service"].(map[string]any)["orders"]
	}
	for _, wrong := range []any{of(foreign), uuid.NewString()} {
		s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(map[string]any{"service_id": wrong})).fault(http.StatusNotFound, fault.NotFound)
	}
	s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(map[string]any{"service_id": "x"})).fault(http.StatusBadRequest, fault.InvalidInput)
	asked := s.asked()
	asked["service_id"] = of(service)
	require.Equal(t, of(service), s.offer(s.contractor, asked)["service_id"], "the contractor may name its own")

	terms := s.terms(named(service))
	card := s.offer(s.customer, terms)
	require.Equal(t, of(service), card["service_id"])
	terms["service_id"] = of(service)
	s.send("POST", "/api/v1/orders", s.customer.Token, terms).ok(http.StatusOK)
	terms["service_id"] = of(foreign)
	s.send("POST", "/api/v1/orders", s.customer.Token, terms).fault(http.StatusConflict, "idempotency_conflict")
	for _, step := range []string{"accept", "start"} {
		card = s.step(s.contractor, card, step, nil)
	}
	card = s.step(s.contractor, card, "deliver", map[string]any{"result_text": "Done."})
	require.EqualValues(t, 0, count())
	card = s.step(s.customer, card, "complete", nil)
	require.Equal(t, of(service), card["service_id"])
	require.EqualValues(t, 1, count())

	s.Show(s.contractor, false)
	s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(named(service))).fault(http.StatusNotFound, fault.NotFound)
	s.Show(s.contractor, true)
	s.send("DELETE", servicesPath+"/"+of(service), s.contractor.Token, nil).ok(http.StatusOK)
	s.send("POST", "/api/v1/orders", s.customer.Token, s.terms(named(service))).fault(http.StatusNotFound, fault.NotFound)
	read := s.send("GET", "/api/v1/orders/"+of(card), s.customer.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
	require.Equal(t, of(service), read["service_id"])
}
