package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// draft sends a draft of an order, without nil members.
func (s *trade) draft(by *graphtest.Agent, order map[string]any, members map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders/"+of(order)+"/drafts", by.Token, changed(map[string]any{
		"operation_id": uuid.NewString(), "text": "The first verse.",
	}, members))
}

// reply replies to a draft of an order.
func (s *trade) reply(by *graphtest.Agent, order map[string]any, draftID string, members map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders/"+of(order)+"/drafts/"+draftID+"/reply", by.Token, changed(map[string]any{
		"operation_id": uuid.NewString(), "verdict": "changes", "text": "Lighter, please.",
	}, members))
}

// started returns an order in progress.
func (s *trade) started() map[string]any {
	s.t.Helper()
	return s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
}

func (s *trade) drafts(by *graphtest.Agent, order map[string]any) []any {
	s.t.Helper()
	list := s.send("GET", "/api/v1/orders/"+of(order)+"/drafts", by.Token, nil).ok(http.StatusOK)
	require.Equal(s.t, []string{"drafts", "next_before"}, keys(list))
	require.Nil(s.t, list["next_before"])
	return list["drafts"].([]any)
}

// The two participants read a draft and its reply, and receive events about them; the order does not change.
func TestDraftsOverREST(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order := s.started()
	require.Empty(t, s.drafts(s.customer, order))

	body := map[string]any{"operation_id": uuid.NewString(), "text": "The first verse.\n\tIs this the tone?"}
	made := s.draft(s.contractor, order, body)
	draft := made.ok(http.StatusCreated)["draft"].(map[string]any)
	require.Equal(t, []string{"attachments", "created_at", "id", "number", "order_id", "reply", "text"}, keys(draft))
	contains(t, draft, map[string]any{
		"order_id": of(order), "number": 1.0, "text": body["text"], "attachments": []any{}, "reply": nil,
	})
	again := s.draft(s.contractor, order, map[string]any{"operation_id": strings.ToUpper(body["operation_id"].(string)), "text": body["text"]})
	again.ok(http.StatusOK)
	require.Equal(t, string(made.raw), string(again.raw))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	s.draft(s.contractor, order, map[string]any{"operation_id": body["operation_id"], "text": "x"}).fault(http.StatusConflict, "idempotency_conflict")

	replied := s.reply(s.customer, order, of(draft), nil).ok(http.StatusOK)["draft"].(map[string]any)
	reply := replied["reply"].(map[string]any)
	require.Equal(t, []string{"created_at", "text", "verdict"}, keys(reply))
	contains(t, reply, map[string]any{"verdict": "changes", "text": "Lighter, please."})
	second := s.draft(s.contractor, order, nil).ok(http.StatusCreated)["draft"].(map[string]any)
	require.EqualValues(t, 2, second["number"])
	for _, reader := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Equal(t, []any{second, replied}, s.drafts(reader, order))
	}
	older := s.send("GET", "/api/v1/orders/"+of(order)+"/drafts?before="+of(second), s.customer.Token, nil).ok(http.StatusOK)
	require.Equal(t, map[string]any{"drafts": []any{replied}, "next_before": nil}, older)
	s.send("GET", "/api/v1/orders/"+of(order)+"/drafts?before="+uuid.NewString(), s.customer.Token, nil).fault(http.StatusNotFound, "not_found")
	s.send("GET", "/api/v1/orders/"+of(order)+"/drafts?before=x", s.customer.Token, nil).fault(http.StatusBadRequest, "invalid_id")

	require.Equal(t, []map[string]any{
		{"order_id": of(order), "draft_id": of(draft)}, {"order_id": of(order), "draft_id": of(second)},
	}, s.told(s.customer, "2", "order.draft"))
	require.Equal(t, []map[string]any{{"order_id": of(order), "draft_id": of(draft), "verdict": "changes"}},
		s.told(s.contractor, "2", "order.draft_reply"))
	require.Empty(t, s.told(s.contractor, "2", "order.draft"))
	require.Empty(t, s.told(s.customer, "1", "order.draft"))
	require.Empty(t, s.told(s.contractor, "1", "order.draft_reply"))
	read := s.send("GET", "/api/v1/orders/"+of(order), s.contractor.Token, nil).ok(http.StatusOK)["order"]
	require.Equal(t, order, read, "no draft changes the order, its version or its actions")
}

// Only the right side can send a draft or reply to it, and only in some states.
func TestDraftsAreRefused(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order, stranger := s.started(), s.Agent()
	draft := s.draft(s.contractor, order, nil).ok(http.StatusCreated)["draft"].(map[string]any)
	other := s.draft(s.contractor, s.started(), nil).ok(http.StatusCreated)["draft"].(map[string]any)

	s.draft(stranger, order, nil).fault(http.StatusNotFound, "not_found")
	s.draft(s.customer, order, nil).fault(http.StatusForbidden, "forbidden")
	s.draft(s.contractor, map[string]any{"id": "x"}, nil).fault(http.StatusBadRequest, "invalid_id")
	s.reply(stranger, order, of(draft), nil).fault(http.StatusNotFound, "not_found")
	s.reply(s.contractor, order, of(draft), nil).fault(http.StatusForbidden, "forbidden")
	s.reply(s.customer, order, of(other), nil).fault(http.StatusNotFound, "not_found")
	s.reply(s.customer, order, "x", nil).fault(http.StatusBadRequest, "invalid_id")
	s.send("GET", "/api/v1/orders/"+of(order)+"/drafts", stranger.Token, nil).fault(http.StatusNotFound, "not_found")

	for name, members := range map[string]map[string]any{
		"nothing": {"text": nil}, "an empty text": {"text": ""}, "no files": {"text": nil, "attachment_ids": []string{}},
		"long": {"text": strings.Repeat("ж", 8001)}, "a bell": {"text": "\a"}, "no operation": {"operation_id": nil},
		"eleven files": {"attachment_ids": make([]string, 11)}, "no id": {"attachment_ids": []string{"x"}},
		"a version": {"expected_version": 3},
	} {
		a := s.draft(s.contractor, order, members)
		require.Equal(t, http.StatusBadRequest, a.status, name)
		a.fault(http.StatusBadRequest, "invalid_input")
	}
	for _, members := range []map[string]any{
		{"verdict": nil}, {"verdict": "good"}, {"operation_id": nil}, {"text": strings.Repeat("ж", 2001)},
	} {
		s.reply(s.customer, order, of(draft), members).fault(http.StatusBadRequest, "invalid_input")
	}

	newest := s.draft(s.contractor, order, map[string]any{"text": strings.Repeat("ж", 8000)}).ok(http.StatusCreated)["draft"].(map[string]any)
	s.reply(s.customer, order, of(draft), nil).fault(http.StatusConflict, "state_conflict")
	reply := map[string]any{"operation_id": uuid.NewString(), "verdict": "fine", "text": nil}
	answer := s.reply(s.customer, order, of(newest), reply)
	contains(t, answer.ok(http.StatusOK)["draft"].(map[string]any)["reply"].(map[string]any), map[string]any{"verdict": "fine", "text": nil})
	s.reply(s.customer, order, of(newest), nil).fault(http.StatusConflict, "state_conflict")
	repeated := s.reply(s.customer, order, of(newest), reply)
	require.Equal(t, string(answer.raw), string(repeated.raw))
	require.Equal(t, "true", repeated.header.Get("Idempotent-Replayed"))
	s.reply(s.customer, order, of(draft), reply).fault(http.StatusConflict, "idempotency_conflict")

	for number := 3; number <= 20; number++ {
		s.draft(s.contractor, order, nil).ok(http.StatusCreated)
	}
	s.draft(s.contractor, order, nil).fault(http.StatusConflict, "state_conflict")
	last := s.drafts(s.customer, order)
	require.Len(t, last, 20)

	delivered := s.step(s.contractor, order, "deliver", map[string]any{"result_text": "Done."})
	s.draft(s.contractor, delivered, nil).fault(http.StatusConflict, "state_conflict")
	s.reply(s.customer, delivered, of(last[0].(map[string]any)), nil).fault(http.StatusConflict, "state_conflict")
	s.draft(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), nil).fault(http.StatusConflict, "state_conflict")
	require.Len(t, s.drafts(s.customer, delivered), 20)
}

// Drafts and actions share one space of operation ids.
func TestDraftsShareOperationIDsWithOrders(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order := s.started()
	id := map[string]any{"operation_id": uuid.NewString()}
	s.draft(s.contractor, order, id).ok(http.StatusCreated)
	s.act(s.contractor, order, "deliver", changed(map[string]any{"result_text": "Done."}, id)).fault(http.StatusConflict, "idempotency_conflict")
	used := map[string]any{"operation_id": uuid.NewString(), "result_text": "Done."}
	s.step(s.contractor, order, "deliver", used)
	s.draft(s.contractor, order, map[string]any{"operation_id": used["operation_id"]}).fault(http.StatusConflict, "idempotency_conflict")
}

// Drafts hold own order files; a file may be in several drafts of one order, both sides see it, and it can be delivered later.
func TestFilesOfDrafts(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order, other := s.started(), s.started()
	file, second := s.File(s.contractor, attachments.Order), s.File(s.contractor, attachments.Order)
	with := func(files ...uuid.UUID) map[string]any { return map[string]any{"text": nil, "attachment_ids": files} }

	draft := s.draft(s.contractor, order, with(second, file)).ok(http.StatusCreated)["draft"].(map[string]any)
	require.Nil(t, draft["text"])
	require.Equal(t, []string{second.String(), file.String()}, ids(draft["attachments"]))
	again := s.draft(s.contractor, order, with(file)).ok(http.StatusCreated)["draft"].(map[string]any)
	require.Equal(t, []string{file.String()}, ids(again["attachments"]))
	require.Equal(t, []any{again, draft}, s.drafts(s.customer, order))
	s.send("GET", "/api/v1/attachments/"+file.String(), s.customer.Token, nil).ok(http.StatusOK)
	s.send("GET", "/api/v1/attachments/"+file.String(), s.Agent().Token, nil).fault(http.StatusNotFound, "not_found")

	s.draft(s.contractor, other, with(file)).fault(http.StatusConflict, "attachment_already_bound")
	for _, wrong := range []uuid.UUID{uuid.New(), s.File(s.customer, attachments.Order), s.File(s.contractor, attachments.Portfolio)} {
		s.draft(s.contractor, order, with(wrong)).fault(http.StatusNotFound, "invalid_attachment")
	}
	require.Len(t, s.drafts(s.customer, order), 2)

	delivered := s.step(s.contractor, order, "deliver", map[string]any{"result_attachment_ids": []uuid.UUID{file}})
	require.Equal(t, []string{file.String()}, ids(delivered["result_attachments"]))
	require.Equal(t, []any{again, draft}, s.drafts(s.customer, order))
	s.send("GET", "/api/v1/attachments/"+second.String(), s.customer.Token, nil).ok(http.StatusOK)
	s.act(s.contractor, other, "deliver", map[string]any{"result_attachment_ids": []uuid.UUID{second}}).fault(http.StatusConflict, "attachment_already_bound")
}

func ids(list any) (all []string) {
	for _, record := range list.([]any) {
		all = append(all, of(record.(map[string]any)))
	}
	return all
}

// In version 2 of the channel, order.changed has the action and the actor; version 1 is unchanged.
func TestOrderChangedSaysWhoDidWhat(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.offer(s.customer, s.terms(nil))
	card = s.step(s.contractor, card, "accept", nil)
	s.step(s.contractor, card, "propose-refund", map[string]any{"reason": "I cannot."})
	event := func(status string, version float64, more map[string]any) map[string]any {
		return changed(map[string]any{"order_id": of(card), "status": status, "version": version}, more)
	}
	for _, reader := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Equal(t, []map[string]any{
			event("offered", 1, map[string]any{"action": "create", "actor_id": s.customer.ID.String()}),
			event("funded", 2, map[string]any{"action": "accept", "actor_id": s.contractor.ID.String()}),
			event("disputed", 3, map[string]any{"action": "propose-refund", "actor_id": s.contractor.ID.String()}),
		}, s.told(reader, "2", "order.changed"))
		require.Equal(t, []map[string]any{event("offered", 1, nil), event("funded", 2, nil), event("disputed", 3, nil)},
			s.told(reader, "1", "order.changed"))
	}
}
