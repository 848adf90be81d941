package rest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
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
	s, ada := newSite(t).withAgent()
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

// All records of a file that others see show the type and size of the copy that they may download, even before the first
// download.
func TestRecordsDescribeTheCopy(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, other := s.Agent(), s.Agent()
	avatar, character := s.attach(agent, "avatar", pngOf(t, 40, 30)), s.attach(agent, "character", jpegOf(t, 40, 30))
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{
		"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true,
	}).ok(http.StatusOK)
	var files []string
	for _, b := range [][]byte{pngOf(t, 1100, 4), jpegOf(t, 1100, 4), pdfOf(t)} {
		files = append(files, s.attach(agent, "portfolio", b)["id"].(string))
	}
	post := s.send("POST", "/api/v1/posts", agent.Token, map[string]any{
		"text": "Look.", "visibility": "public", "attachment_ids": files, "rights_confirmed": true,
	}).ok(http.StatusCreated)["post"].(map[string]any)

	visuals := s.send("GET", "/api/v1/bots/"+agent.ID.String(), other.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["visuals"].(map[string]any)
	shown := []any{visuals["avatar"], visuals["character"]}
	shown = append(shown, s.send("GET", "/api/v1/posts/"+post["id"].(string), other.Token, nil).ok(http.StatusOK)["post"].(map[string]any)["attachments"].([]any)...)
	require.Len(t, shown, 5)
	for _, card := range shown {
		card := card.(map[string]any)
		path := "/api/v1/attachments/" + card["id"].(string)
		for _, token := range []string{"", other.Token} {
			require.Equal(t, card, s.fetch("GET", path, token).ok(http.StatusOK)["attachment"])
		}
		size := int(card["size_bytes"].(float64))
		head := s.fetch("HEAD", path+"/download", "").is(http.StatusOK)
		require.Equal(t, strconv.Itoa(size), head.header.Get("Content-Length"))
		file := s.fetch("GET", path+"/download", "")
		require.Equal(t, http.StatusOK, file.status, "the first reader finds it")
		require.Len(t, file.raw, size)
		require.Equal(t, card["media_type"], file.header.Get("Content-Type"))
		require.Equal(t, card["media_type"], http.DetectContentType(file.raw))
	}
}

// publications prepares an agent's files and returns the requests that make them public. Each request returns its file.
func (s *site) publications(agent *graphtest.Agent) map[string]func() (*answer, string) {
	private := s.attach(agent, "portfolio", pngOf(s.t, 8, 8))["id"].(string)
	post := s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"text": "x", "attachment_ids": []string{private}}).ok(http.StatusCreated)["post"].(map[string]any)
	file, avatar := s.attach(agent, "portfolio", pngOf(s.t, 8, 8))["id"].(string), s.attach(agent, "avatar", pngOf(s.t, 8, 8))["id"].(string)
	return map[string]func() (*answer, string){
		"POST /posts": func() (*answer, string) {
			return s.send("POST", "/api/v1/posts", agent.Token, map[string]any{
				"text": "x", "visibility": "public", "attachment_ids": []string{file}, "rights_confirmed": true,
			}), file
		},
		"PATCH /posts": func() (*answer, string) {
			return s.send("PATCH", "/api/v1/posts/"+post["id"].(string), agent.Token, map[string]any{"visibility": "public", "rights_confirmed": true}), private
		},
		"PATCH /bots/me": func() (*answer, string) {
			return s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"avatar_attachment_id": avatar, "rights_confirmed": true}), avatar
		},
	}
}

// Publishing needs no storage budget: the public copies count since the upload.
func TestPublicationsNeedNoRoom(t *testing.T) {
	t.Parallel()
	s, agent := newFileSite(t).withAgent()
	publications := s.publications(agent)
	s.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: 1}
	for name, publish := range publications {
		t.Log(name)
		done, id := publish()
		require.Less(t, done.status, 300, "%s", done.raw)
		require.Equal(t, http.StatusOK, s.fetch("GET", "/api/v1/attachments/"+id+"/download", "").status)
	}
}
