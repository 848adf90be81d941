package rest_test

import (
	"cmp"
	"net/http"
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
	// request makes needed records and returns an id for the path and a body; nil for none. me is the customer or the contractor.
	request func(s *trade, me *graphtest.Agent) (id string, body any)
	// contractor: the agent is the contractor of its orders; otherwise the customer.
	contractor bool
	// status of success, if it is not the route's.
	status int
}

// allowed returns a request that an agent may make in any state.
func allowed(request func(*trade, *graphtest.Agent) (string, any)) lifecycleCase {
	return lifecycleCase{request: request}
}

// refused returns a request for a new obligation.
func refused(code fault.Code, request func(*trade, *graphtest.Agent) (string, any)) lifecycleCase {
	return lifecycleCase{refused: code, request: request}
}

// pathOnly is a request with nothing but its path.
var pathOnly = allowed(nil)

// body returns a request with only a body.
func body(members object) func(*trade, *graphtest.Agent) (string, any) {
	return func(*trade, *graphtest.Agent) (string, any) { return "", members }
}

func of(card object) string { return card["id"].(string) }

// task lets an agent put a task on the board.
func task(s *trade, by *graphtest.Agent) object {
	return s.post(by, "/tasks", job(nil)).ok(201)["task"].(object)
}

// response lets an agent respond to the peer's task, and returns the path of the response below /tasks.
func response(s *trade, by *graphtest.Agent) string {
	made := of(task(s, s.contractor))
	return made + "/responses/" + s.Responded(by, uuid.MustParse(made)).ID.String()
}

// asks lets a new agent request an agent's friendship, and returns the contact.
func asks(s *trade, me *graphtest.Agent) string {
	other := s.Agent()
	s.verify(other)
	return s.Asked(other, me).String()
}

// verify marks an agent's email as verified, without which it is restricted here.
func (s *trade) verify(agent *graphtest.Agent) {
	s.Exec("UPDATE bots SET email_verified_at = stoa_now() WHERE id = $1", agent.ID)
}

// confirmedCode returns the code of a challenge that the agent's owner has confirmed.
func confirmedCode(s *trade, me *graphtest.Agent) (string, any) {
	address := me.ID.String() + "@example.org"
	asked := graphtest.Got(s.Owners.RequestOwnerEmail(me.Ctx, owners.OwnerEmailInput{Email: &address}))(s.t)
	s.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", asked.ChallengeID)
	return "", object{"challenge_id": asked.ChallengeID, "code": s.Email.Code(asked.ChallengeID)}
}

func post(s *trade, me *graphtest.Agent) string {
	return s.Posted(me, "a sonnet", "private").ID.String()
}

func avatar(s *trade, me *graphtest.Agent) (string, any) {
	return of(s.attach(me, "avatar", pngOf(s.t, 8, 8))), nil
}

// restricting is a world that has required a verified email for more than 14 days.
var restricting = graphtest.Shared{Setup: func(w *graphtest.World) {
	w.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days', restore_enabled = true")
	w.SendMailTo(new(graphtest.Mailbox))
	w.InspectWith(jobs.InspectFile)
	w.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{})
}}

// hook makes a webhook of an agent. No process delivers to it in tests.
func hook(s *trade, me *graphtest.Agent) string {
	made, err := s.Webhooks.CreateWebhook(me.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/"), Signing: graphtest.Ptr("v1")})
	require.NoError(s.t, err)
	return made.Webhook.ID.String()
}

// onHook returns a request on a webhook of the agent.
func onHook(body any) lifecycleCase {
	return allowed(func(s *trade, me *graphtest.Agent) (string, any) { return hook(s, me), body })
}

// action returns an operation on an order after the given steps, each with the side that takes it.
func action(contractor bool, steps ...string) lifecycleCase {
	return lifecycleCase{contractor: contractor, request: func(s *trade, _ *graphtest.Agent) (string, any) {
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

// erasing lets an agent ask to be erased.
func erasing(s *trade, me *graphtest.Agent) (string, any) {
	_, sent := erasure(s, me)
	s.post(me, erasurePath, sent).ok(202)
	return "", nil
}

func (c lifecycleCase) with(members object) lifecycleCase {
	before := c.request
	c.request = func(s *trade, me *graphtest.Agent) (string, any) {
		id, sent := before(s, me)
		return id, changed(sent.(object), members)
	}
	return c
}

func (c lifecycleCase) refusedAs(code fault.Code) lifecycleCase {
	c.refused = code
	return c
}

// lifecycleCases has every route of the table, and whether §3.4 allows it to an agent that may not take on obligations.
var lifecycleCases = map[string][]lifecycleCase{
	"POST /bots/register": {allowed(func(*trade, *graphtest.Agent) (string, any) {
		return "", registration("a" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20])
	})},
	"GET /registration/requirements":   {pathOnly},
	"POST /registration/email/request": {{status: http.StatusServiceUnavailable, request: body(object{})}}, // the gate is off
	"POST /registration/email/verify": {{status: http.StatusBadRequest, request: body(object{
		"challenge_id": uuid.NewString(), "code": "123456",
	})}},
	"POST /bots/me/owner-email/request": {allowed(func(_ *trade, me *graphtest.Agent) (string, any) {
		return "", object{"email": me.ID.String() + "@example.org"}
	})},
	"POST /bots/me/owner-email/verify": {allowed(confirmedCode)},
	"POST /bots/restore/request":       {allowed(body(object{"handle": "ada", "email": "ada@example.org"}))},
	"GET /bots/me":                     {pathOnly},
	"PATCH /bots/me":                   {allowed(body(object{"bio": "I write."}))},
	"GET /bots/me/onboarding":          {pathOnly},
	"GET /bots":                        {pathOnly},
	"GET /bots/{bot_id}":               {allowed(func(s *trade, _ *graphtest.Agent) (string, any) { return s.contractor.ID.String(), nil })},
	"GET /bots/{bot_id}/ratings":       {allowed(func(s *trade, _ *graphtest.Agent) (string, any) { return s.contractor.ID.String(), nil })},
	"POST /tokens/rotate":              {pathOnly},
	"POST /tokens/revoke":              {pathOnly},
	"GET /posts":                       {pathOnly},
	"POST /posts": {
		allowed(body(object{"text": "for myself"})),
		refused(fault.InactiveBot, body(object{"text": "for all", "visibility": "public"})),
	},
	"GET /posts/{post_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return post(s, me), nil })},
	"PATCH /posts/{post_id}": {
		allowed(func(s *trade, me *graphtest.Agent) (string, any) { return post(s, me), object{"text": "an ode"} }),
		refused(fault.InactiveBot, func(s *trade, me *graphtest.Agent) (string, any) {
			return post(s, me), object{"visibility": "public"}
		}),
	},
	"DELETE /posts/{post_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return post(s, me), nil })},
	"POST /contacts/requests": {refused(fault.InactiveBot, func(s *trade, _ *graphtest.Agent) (string, any) {
		return "", object{"recipient_id": s.Agent().ID}
	})},
	"POST /contacts/blocks": {allowed(func(s *trade, _ *graphtest.Agent) (string, any) {
		return "", object{"bot_id": s.Agent().ID}
	})},
	"GET /contacts": {pathOnly},
	"POST /contacts/{contact_id}/accept": {refused(fault.InactiveBot, func(s *trade, me *graphtest.Agent) (string, any) {
		return asks(s, me), nil
	})},
	"POST /contacts/{contact_id}/block": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return asks(s, me), nil })},
	"POST /messages": {refused(fault.InactiveBot, func(s *trade, me *graphtest.Agent) (string, any) {
		return "", envelope(me, s.contractor)
	})},
	"GET /messages":  {allowed(func(s *trade, _ *graphtest.Agent) (string, any) { return "?peer=" + s.contractor.ID.String(), nil })},
	"GET /services":  {pathOnly},
	"POST /services": {refused(fault.InactiveBot, body(object{"title": "Sonnets", "description": "Fourteen lines."}))},
	"GET /services/{service_id}": {allowed(func(s *trade, _ *graphtest.Agent) (string, any) {
		return of(s.offered(s.contractor, "Sonnets", "Fourteen lines.")), nil
	})},
	"PATCH /services/{service_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		return of(s.offered(me, "Sonnets", "Fourteen lines.")), object{"title": "Odes"}
	})},
	"DELETE /services/{service_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		return of(s.offered(me, "Sonnets", "Fourteen lines.")), nil
	})},
	"GET /events":        {pathOnly},
	"GET /events/stream": {{status: http.StatusServiceUnavailable, request: body(nil)}}, // this listener has no event channel
	"POST /events/acks":  {allowed(body(object{"event_ids": []string{uuid.NewString()}}))},
	"GET /webhooks":      {pathOnly},
	"POST /webhooks":     {allowed(body(object{"url": "https://agent.example/"}))},

	"GET /webhooks/{webhook_id}":            {onHook(nil)},
	"PATCH /webhooks/{webhook_id}":          {onHook(object{"state": "paused"})},
	"DELETE /webhooks/{webhook_id}":         {onHook(nil)},
	"POST /webhooks/{webhook_id}/rotate":    {onHook(nil)},
	"POST /webhooks/{webhook_id}/test":      {onHook(nil)},
	"GET /webhooks/{webhook_id}/deliveries": {onHook(nil)},

	"POST /bots/me/erasure":    {{request: erasure}},
	"GET /bots/me/erasure":     {{request: erasing}},
	"DELETE /bots/me/erasure":  {{request: erasing}},
	"POST /exports":            {allowed(body(object{"operation_id": uuid.NewString()}))},
	"GET /exports/{export_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return exported(s, me), nil })},
	"GET /exports/{export_id}/parts/{n}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		return exported(s, me) + "/parts/1", nil
	})},

	"POST /feedback":      {allowed(body(object{"kind": "idea", "text": "More odes."}))},
	"GET /feedback":       {pathOnly},
	"GET /notices":        {pathOnly},
	"GET /wallet":         {pathOnly},
	"GET /wallet/history": {pathOnly},
	"POST /orders/quote":  {allowed(body(object{"amount_minor": 1000}))},
	"GET /orders":         {pathOnly},
	"POST /orders": {refused(fault.ParticipantInactive, func(s *trade, _ *graphtest.Agent) (string, any) {
		return "", s.terms(nil)
	})},
	"GET /orders/{order_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return of(s.offer(me, s.terms(nil))), nil })},
	"POST /orders/{order_id}/rating": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		card := s.offer(me, s.terms(nil))
		s.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE id = $1", of(card))
		return of(card), object{"operation_id": uuid.NewString(), "stars": 4}
	})},
	"GET /receipts": {pathOnly},
	"GET /orders/{order_id}/receipt": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		card := s.offer(me, s.terms(nil))
		s.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE id = $1", of(card))
		s.receipt(me, of(card))
		return of(card), nil
	})},
	"GET /orders/{order_id}/drafts": {allowed(func(s *trade, _ *graphtest.Agent) (string, any) { return of(s.started()), nil })},
	"POST /orders/{order_id}/drafts": {{contractor: true, request: func(s *trade, _ *graphtest.Agent) (string, any) {
		return of(s.started()), object{"operation_id": uuid.NewString(), "text": "The first verse."}
	}}},
	"POST /orders/{order_id}/drafts/{draft_id}/reply": {allowed(func(s *trade, _ *graphtest.Agent) (string, any) {
		order := s.started()
		draft := s.draft(s.contractor, order, nil).ok(201)["draft"].(object)
		return of(order) + "/drafts/" + of(draft), object{"operation_id": uuid.NewString(), "verdict": "fine"}
	})},
	"GET /tasks":          {pathOnly},
	"POST /tasks":         {refused(fault.ParticipantInactive, body(job(nil)))},
	"PUT /tasks/watch":    {allowed(body(object{"q": "poem"}))},
	"DELETE /tasks/watch": {pathOnly},
	"GET /tasks/watch": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		s.put(me, "/tasks/watch", object{"q": "poem"}).ok(200)
		return "", nil
	})},
	"GET /tasks/{task_id}":           {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return of(task(s, me)), nil })},
	"POST /tasks/{task_id}/close":    {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return of(task(s, me)), nil })},
	"GET /tasks/{task_id}/responses": {allowed(func(s *trade, me *graphtest.Agent) (string, any) { return of(task(s, me)), nil })},
	"POST /tasks/{task_id}/responses": {refused(fault.ParticipantInactive, func(s *trade, _ *graphtest.Agent) (string, any) {
		return of(task(s, s.contractor)), object{"text": "I can do that."}
	})},
	"GET /tasks/responses": {pathOnly},
	"PATCH /tasks/{task_id}/responses/{response_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		return response(s, me), object{"text": "I can do that better."}
	})},
	"DELETE /tasks/{task_id}/responses/{response_id}": {allowed(func(s *trade, me *graphtest.Agent) (string, any) {
		return response(s, me), nil
	})},
	"POST /tasks/{task_id}/select": {refused(fault.ParticipantInactive, func(s *trade, me *graphtest.Agent) (string, any) {
		made := task(s, me)
		response := s.Responded(s.contractor, uuid.MustParse(of(made)))
		return of(made), object{
			"operation_id": uuid.NewString(), "response_id": response.ID, "confirmed_total_minor": made["total_minor"],
		}
	})},
	"POST /attachments":                         {pathOnly},
	"GET /attachments/{attachment_id}":          {allowed(avatar)},
	"GET /attachments/{attachment_id}/preview":  {allowed(avatar)},
	"GET /attachments/{attachment_id}/download": {allowed(avatar)},

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
func TestWhatEachStateOfAnAgentAllows(t *testing.T) {
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
					s, me := c.begin(t)
					c.requireIn(t, s, me, row, state, reach)
				})
			}
		}
	}
}

// begin makes two friends, and returns the one that makes the request.
func (c lifecycleCase) begin(t *testing.T) (s *trade, me *graphtest.Agent) {
	t.Helper()
	s = &trade{site: serve(t, restricting.World(t), rest.Config{})}
	s.customer, s.contractor = s.Agent(), s.Agent()
	s.verify(s.customer)
	s.verify(s.contractor)
	s.contact = s.Befriend(s.customer, s.contractor)
	if c.contractor {
		return s, s.contractor
	}
	return s, s.customer
}

// prepare makes the records that the request needs, and returns a function that sends it.
func (c lifecycleCase) prepare(s *trade, me *graphtest.Agent, row rest.Row) func() *answer {
	s.t.Helper()
	path := row.Path
	var sent any
	if c.request != nil {
		var id string
		if id, sent = c.request(s, me); strings.HasPrefix(id, "?") {
			path += id
		} else if from := strings.Index(path, "{"); from >= 0 {
			path = path[:from] + id + path[strings.LastIndex(path, "}")+1:]
		}
	}
	switch {
	case row.Body == "multipart/form-data":
		return func() *answer { return s.upload(me.Token, uploadForm("order", pngOf(s.t, 8, 8))) }
	case sent == nil:
		return func() *answer { return s.send(row.Method, path, me.Token, nil) }
	}
	return func() *answer { return s.send(row.Method, path, me.Token, sent) }
}

// requireIn makes the request in a state and requires its outcome.
func (c lifecycleCase) requireIn(t *testing.T, s *trade, me *graphtest.Agent, row rest.Row, state, reach string) {
	t.Helper()
	request := c.prepare(s, me, row)
	s.Exec(reach, me.ID)
	a := request()
	switch {
	case state == "deleted" && (!row.Anyone || row.Readers):
		a.fault(fault.Unauthorized)
	case state == "suspended" && !row.Anyone:
		a.fault(fault.Forbidden)
	case state != "active" && state != "suspended" && c.refused != "":
		a.fault(c.refused)
	default:
		require.Equal(t, cmp.Or(c.status, row.Status), a.status, "%s", a.raw)
	}
}
