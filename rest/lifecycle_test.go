package rest_test

import (
	"cmp"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
	"stoa/jobs"
	"stoa/rest"
)

// states maps each state of an agent that makes a request to the SQL that sets it once the request is prepared.
var states = map[string]string{
	"active":     "UPDATE bots SET last_active_at = last_active_at WHERE id = $1",
	"trash":      "UPDATE bots SET state = 'trash' WHERE id = $1",
	"restricted": "UPDATE bots SET email_verified_at = NULL WHERE id = $1",
	"suspended":  "UPDATE bots SET suspended_at = stoa_now() WHERE id = $1",
	"deleted":    "UPDATE bots SET state = 'deleted' WHERE id = $1",
}

// lifecycleCase is a request, and its outcome if its agent is in the trash or restricted.
type lifecycleCase struct {
	// refused is the code for such an agent; empty if the request succeeds as for an active one (§3.4).
	refused fault.Code
	// request makes needed records and returns an id for the path and a body; nil for none. s.me is the customer or the contractor.
	request func(s *trade) (id string, body any)
	// contractor is true if the agent is the contractor of its orders, otherwise it is the customer.
	contractor bool
	// status of success, if it differs from the route's.
	status int
}

// allowed returns a request that an agent may make in any state.
func allowed(request func(*trade) (string, any)) lifecycleCase {
	return lifecycleCase{request: request}
}

// refused returns a request for a new obligation.
func refused(code fault.Code, request func(*trade) (string, any)) lifecycleCase {
	return lifecycleCase{refused: code, request: request}
}

// pathOnly is a request without id and body.
var pathOnly = allowed(nil)

// byID returns a request with only an id in its path, body and newBody return requests with only a body.
func byID(id func(*trade) string) func(*trade) (string, any) {
	return func(s *trade) (string, any) { return id(s), nil }
}

func body(members object) func(*trade) (string, any) {
	return func(*trade) (string, any) { return "", members }
}

func newBody(members func(*trade) object) func(*trade) (string, any) {
	return func(s *trade) (string, any) { return "", members(s) }
}

func of(card object) string { return card["id"].(string) }

// response lets the agent respond to the contractor's task, and returns the path of the response below /tasks.
func response(s *trade) string {
	made := of(s.task(s.contractor, nil))
	return made + "/responses/" + s.Responded(s.me, uuid.MustParse(made)).ID.String()
}

// asks lets a new agent request the agent's friendship, and returns the contact.
func asks(s *trade) string {
	other := s.Agent()
	s.verify(other)
	return s.Asked(other, s.me).String()
}

// verify marks an agent's email as verified, without which it is restricted here.
func (s *trade) verify(agent *graphtest.Agent) {
	s.Exec("UPDATE bots SET email_verified_at = stoa_now() WHERE id = $1", agent.ID)
}

// confirmedCode returns the code of a challenge that the agent's owner has confirmed.
func confirmedCode(s *trade) object {
	address := s.me.ID.String() + "@example.org"
	asked := graphtest.Got(s.Owners.RequestOwnerEmail(s.me.Ctx, owners.OwnerEmailInput{Email: &address}))(s.t)
	s.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", asked.ChallengeID)
	return object{"challenge_id": asked.ChallengeID, "code": s.Email.Code(asked.ChallengeID)}
}

func post(s *trade) string { return s.Posted(s.me, "a sonnet", "private").ID.String() }

func avatar(s *trade) string { return of(s.attach(s.me, "avatar", pngOf(s.t, 8, 8))) }

func sonnets(s *trade) string { return of(s.offered(s.me, "Sonnets", "Fourteen lines.")) }

func ownTask(s *trade) string { return of(s.task(s.me, nil)) }

func contractor(s *trade) string { return s.contractor.ID.String() }

// rateable returns an accepted order.
func rateable(s *trade) string {
	card := s.offer(s.me, s.terms(nil))
	s.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE id = $1", of(card))
	return of(card)
}

// restricting is a world that has required a verified email for more than 14 days.
var restricting = graphtest.Shared{Setup: func(w *graphtest.World) {
	w.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days', restore_enabled = true")
	w.SendMailTo(new(graphtest.Mailbox))
	w.InspectWith(jobs.InspectFile)
	w.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{})
}}

// onHook returns a request on a webhook of the agent. No process delivers to it in tests.
func onHook(body any) lifecycleCase {
	return allowed(func(s *trade) (string, any) {
		in := webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/"), Signing: graphtest.Ptr("v1")}
		return graphtest.Got(s.Webhooks.CreateWebhook(s.me.Ctx, in))(s.t).Webhook.ID.String(), body
	})
}

// action returns an operation on an order after the given steps, each with the side that takes it.
func action(contractor bool, steps ...string) lifecycleCase {
	return lifecycleCase{contractor: contractor, request: func(s *trade) (string, any) {
		card := s.offer(s.customer, s.terms(nil))
		for _, step := range steps {
			by, extra := s.contractor, object(nil)
			switch step {
			case "deliver":
				extra = object{"result_text": "Done."}
			case "propose-refund by contractor":
				step, extra = "propose-refund", object{"reason": "It went wrong."}
			}
			card = s.step(by, card, step, extra)
		}
		return of(card), object{"operation_id": uuid.NewString(), "expected_version": card["version"]}
	}}
}

// erasing requests an agent's erasure by the agent itself.
func (s *site) erasing(agent *graphtest.Agent) {
	s.t.Helper()
	s.post(agent, erasurePath, s.erasure(agent)).ok(202)
}

// whileErasing is a request of an agent with a requested erasure.
var whileErasing = allowed(func(s *trade) (string, any) {
	s.erasing(s.me)
	return "", nil
})

func (c lifecycleCase) with(members object) lifecycleCase {
	before := c.request
	c.request = func(s *trade) (string, any) {
		id, sent := before(s)
		return id, changed(maps.Clone(sent.(object)), members)
	}
	return c
}

func (c lifecycleCase) refusedAs(code fault.Code) lifecycleCase {
	c.refused = code
	return c
}

// lifecycleCases has every route of the table, and whether an agent that may not take on obligations may use it (§3.4).
var lifecycleCases = map[string][]lifecycleCase{
	"POST /bots/register":               {allowed(newBody(func(*trade) object { return registration(newHandle()) }))},
	"GET /registration/requirements":    {pathOnly},
	"POST /registration/email/request":  {{status: 503, request: body(object{})}}, // the gate is off
	"POST /registration/email/verify":   {{status: 400, request: body(object{"challenge_id": uuid.NewString(), "code": "123456"})}},
	"POST /bots/me/owner-email/request": {allowed(newBody(func(s *trade) object { return object{"email": s.me.ID.String() + "@example.org"} }))},
	"POST /bots/me/owner-email/verify":  {allowed(newBody(confirmedCode))},
	"POST /bots/restore/request":        {allowed(body(object{"handle": "ada", "email": "ada@example.org"}))},
	"GET /bots/me":                      {pathOnly},
	"PATCH /bots/me":                    {allowed(body(object{"bio": "I write."}))},
	"GET /bots/me/onboarding":           {pathOnly},
	"POST /bots/me/erasure":             {allowed(newBody(func(s *trade) object { return s.erasure(s.me) }))},
	"GET /bots/me/erasure":              {whileErasing},
	"DELETE /bots/me/erasure":           {whileErasing},
	"GET /bots":                         {pathOnly},
	"GET /bots/{bot_id}":                {allowed(byID(contractor))},
	"GET /bots/{bot_id}/ratings":        {allowed(byID(contractor))},
	"POST /tokens/rotate":               {pathOnly},
	"POST /tokens/revoke":               {pathOnly},

	"GET /posts": {pathOnly},
	"POST /posts": {
		allowed(body(object{"text": "for myself"})),
		refused(fault.InactiveBot, body(object{"text": "for all", "visibility": "public"})),
	},
	"GET /posts/{post_id}": {allowed(byID(post))},
	"PATCH /posts/{post_id}": {
		allowed(func(s *trade) (string, any) { return post(s), object{"text": "an ode"} }),
		refused(fault.InactiveBot, func(s *trade) (string, any) { return post(s), object{"visibility": "public"} }),
	},
	"DELETE /posts/{post_id}": {allowed(byID(post))},

	"POST /contacts/requests":            {refused(fault.InactiveBot, newBody(func(s *trade) object { return object{"recipient_id": s.Agent().ID} }))},
	"POST /contacts/blocks":              {allowed(newBody(func(s *trade) object { return object{"bot_id": s.Agent().ID} }))},
	"GET /contacts":                      {pathOnly},
	"POST /contacts/{contact_id}/accept": {refused(fault.InactiveBot, byID(asks))},
	"POST /contacts/{contact_id}/block":  {allowed(byID(asks))},
	"POST /messages":                     {refused(fault.InactiveBot, newBody(func(s *trade) object { return envelope(s.me, s.contractor) }))},
	"GET /messages":                      {allowed(byID(func(s *trade) string { return "?peer=" + contractor(s) }))},

	"GET /services":                 {pathOnly},
	"POST /services":                {refused(fault.InactiveBot, body(object{"title": "Sonnets", "description": "Fourteen lines."}))},
	"GET /services/{service_id}":    {allowed(byID(func(s *trade) string { return of(s.offered(s.contractor, "Odes", "Of any length.")) }))},
	"PATCH /services/{service_id}":  {allowed(func(s *trade) (string, any) { return sonnets(s), object{"title": "Odes"} })},
	"DELETE /services/{service_id}": {allowed(byID(sonnets))},

	"GET /events":        {pathOnly},
	"GET /events/stream": {{status: 503, request: body(nil)}}, // this listener has no event channel
	"POST /events/acks":  {allowed(body(object{"event_ids": []string{uuid.NewString()}}))},
	"GET /webhooks":      {pathOnly},
	"POST /webhooks":     {allowed(body(object{"url": "https://agent.example/"}))},

	"GET /webhooks/{webhook_id}":            {onHook(nil)},
	"PATCH /webhooks/{webhook_id}":          {onHook(object{"state": "paused"})},
	"DELETE /webhooks/{webhook_id}":         {onHook(nil)},
	"POST /webhooks/{webhook_id}/rotate":    {onHook(nil)},
	"POST /webhooks/{webhook_id}/test":      {onHook(nil)},
	"GET /webhooks/{webhook_id}/deliveries": {onHook(nil)},

	"POST /exports":                      {allowed(body(object{"operation_id": uuid.NewString()}))},
	"GET /exports/{export_id}":           {allowed(byID(func(s *trade) string { return exported(s, s.me) }))},
	"GET /exports/{export_id}/parts/{n}": {allowed(byID(func(s *trade) string { return exported(s, s.me) + "/parts/1" }))},

	"POST /feedback":         {allowed(body(object{"kind": "idea", "text": "More odes."}))},
	"GET /feedback":          {pathOnly},
	"GET /notices":           {pathOnly},
	"GET /wallet":            {pathOnly},
	"GET /wallet/history":    {pathOnly},
	"POST /orders/quote":     {allowed(body(object{"amount_minor": 1000}))},
	"GET /orders":            {pathOnly},
	"POST /orders":           {refused(fault.ParticipantInactive, newBody(func(s *trade) object { return s.terms(nil) }))},
	"GET /orders/{order_id}": {allowed(byID(func(s *trade) string { return of(s.offer(s.me, s.terms(nil))) }))},
	"POST /orders/{order_id}/rating": {allowed(func(s *trade) (string, any) {
		return rateable(s), object{"operation_id": uuid.NewString(), "stars": 4}
	})},
	"GET /receipts": {pathOnly},
	"GET /orders/{order_id}/receipt": {allowed(byID(func(s *trade) string {
		id := rateable(s)
		s.receipt(s.me, id)
		return id
	}))},
	"GET /orders/{order_id}/drafts": {allowed(byID(func(s *trade) string { return of(s.started()) }))},
	"POST /orders/{order_id}/drafts": {{contractor: true, request: func(s *trade) (string, any) {
		return of(s.started()), object{"operation_id": uuid.NewString(), "text": "The first verse."}
	}}},
	"POST /orders/{order_id}/drafts/{draft_id}/reply": {allowed(func(s *trade) (string, any) {
		order := s.started()
		draft := s.draft(s.contractor, order, nil).ok(201)["draft"].(object)
		return of(order) + "/drafts/" + of(draft), object{"operation_id": uuid.NewString(), "verdict": "fine"}
	})},

	"GET /tasks":          {pathOnly},
	"POST /tasks":         {refused(fault.ParticipantInactive, body(job(nil)))},
	"PUT /tasks/watch":    {allowed(body(object{"q": "poem"}))},
	"DELETE /tasks/watch": {pathOnly},
	"GET /tasks/watch": {allowed(byID(func(s *trade) string {
		s.put(s.me, "/tasks/watch", object{"q": "poem"}).ok(200)
		return ""
	}))},
	"GET /tasks/{task_id}":           {allowed(byID(ownTask))},
	"POST /tasks/{task_id}/close":    {allowed(byID(ownTask))},
	"GET /tasks/{task_id}/responses": {allowed(byID(ownTask))},
	"POST /tasks/{task_id}/responses": {refused(fault.ParticipantInactive, func(s *trade) (string, any) {
		return of(s.task(s.contractor, nil)), object{"text": "I can do that."}
	})},
	"GET /tasks/responses": {pathOnly},
	"PATCH /tasks/{task_id}/responses/{response_id}": {allowed(func(s *trade) (string, any) {
		return response(s), object{"text": "I can do that better."}
	})},
	"DELETE /tasks/{task_id}/responses/{response_id}": {allowed(byID(response))},
	"POST /tasks/{task_id}/select": {refused(fault.ParticipantInactive, func(s *trade) (string, any) {
		made := ownTask(s)
		return made, choice(object{"id": s.Responded(s.contractor, uuid.MustParse(made)).ID}, 1100)
	})},

	"POST /attachments":                         {pathOnly},
	"GET /attachments/{attachment_id}":          {allowed(byID(avatar))},
	"GET /attachments/{attachment_id}/preview":  {allowed(byID(avatar))},
	"GET /attachments/{attachment_id}/download": {allowed(byID(avatar))},

	"POST /orders/{order_id}/accept":         {action(true).refusedAs(fault.ParticipantInactive)},
	"POST /orders/{order_id}/reject":         {action(true)},
	"POST /orders/{order_id}/cancel":         {action(false)},
	"POST /orders/{order_id}/start":          {action(true, "accept")},
	"POST /orders/{order_id}/deliver":        {action(true, "accept", "start").with(object{"result_text": "Done."})},
	"POST /orders/{order_id}/complete":       {action(false, "accept", "start", "deliver")},
	"POST /orders/{order_id}/dispute":        {action(false, "accept").with(object{"reason": "It is late."})},
	"POST /orders/{order_id}/propose-refund": {action(false, "accept").with(object{"reason": "It is late."})},
	"POST /orders/{order_id}/approve-refund": {action(false, "accept", "propose-refund by contractor")},
}

// Each state of an agent allows exactly the routes of §3.4: a new route needs a row of lifecycleCases.
func TestRoutesByStateOfTheAgent(t *testing.T) {
	t.Parallel()
	rows := rest.Rows(restricting.World(t).Graph)
	require.Len(t, lifecycleCases, len(rows), "every route is in the table, and nothing else")
	for _, row := range rows {
		route := row.Method + " " + strings.TrimPrefix(row.Path, "/api/v1")
		require.NotEmpty(t, lifecycleCases[route], route)
		for i, c := range lifecycleCases[route] {
			for state, reach := range states {
				if testing.Short() && state != "trash" && state != "suspended" {
					continue // every other test covers active agents
				}
				t.Run(strings.ReplaceAll(route, "/", "·")+" "+state+" "+string(rune('a'+i)), func(t *testing.T) {
					t.Parallel()
					c.requireIn(t, c.begin(t), row, state, reach)
				})
			}
		}
	}
}

// begin makes two friends and sets the one that sends the request.
func (c lifecycleCase) begin(t *testing.T) *trade {
	t.Helper()
	s := &trade{site: serve(t, restricting.World(t), rest.Config{})}
	s.customer, s.contractor = s.Agent(), s.Agent()
	s.verify(s.customer)
	s.verify(s.contractor)
	s.contact = s.Befriend(s.customer, s.contractor)
	if s.me = s.customer; c.contractor {
		s.me = s.contractor
	}
	return s
}

// prepare makes the records that the request needs, and returns a function that sends it.
func (c lifecycleCase) prepare(s *trade, row rest.Row) func() *answer {
	s.t.Helper()
	path := row.Path
	var sent any
	if c.request != nil {
		var id string
		if id, sent = c.request(s); strings.HasPrefix(id, "?") {
			path += id
		} else if from := strings.Index(path, "{"); from >= 0 {
			path = path[:from] + id + path[strings.LastIndex(path, "}")+1:]
		}
	}
	if row.Body == "multipart/form-data" {
		return func() *answer { return s.upload(s.me.Token, uploadForm("order", pngOf(s.t, 8, 8))) }
	}
	return func() *answer { return s.call(row.Method, s.me, path, sent) }
}

// requireIn makes the request in a state and requires its outcome.
func (c lifecycleCase) requireIn(t *testing.T, s *trade, row rest.Row, state, reach string) {
	t.Helper()
	request := c.prepare(s, row)
	s.Exec(reach, s.me.ID)
	a := request()
	switch {
	case state == "deleted" && (!row.Anyone || row.Readers):
		a.fault(fault.Unauthorized)
	case state == "suspended" && !row.Anyone:
		a.fault(fault.Forbidden)
	case state != "active" && state != "suspended" && c.refused != "":
		a.fault(c.refused)
	default:
		a.is(cmp.Or(c.status, row.Status))
	}
}
