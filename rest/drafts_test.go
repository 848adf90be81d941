package rest_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// draft sends a draft of an order, without nil members.
func (s *trade) draft(by *graphtest.Agent, order object, members object) *answer {
	s.t.Helper()
	return s.post(by, "/orders/"+of(order)+"/drafts", changed(object{
		"operation_id": uuid.NewString(), "text": "The first verse.",
	}, members))
}

// reply replies to a draft of an order.
func (s *trade) reply(by *graphtest.Agent, order object, draftID string, members object) *answer {
	s.t.Helper()
	return s.post(by, "/orders/"+of(order)+"/drafts/"+draftID+"/reply", changed(object{
		"operation_id": uuid.NewString(), "verdict": "changes", "text": "Lighter, please.",
	}, members))
}

// started returns an order in progress.
func (s *trade) started() object {
	s.t.Helper()
	return s.step(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), "start", nil)
}

func (s *trade) drafts(by *graphtest.Agent, order object) []any {
	s.t.Helper()
	list := s.get(by, "/orders/"+of(order)+"/drafts").ok(200)
	require.Nil(s.t, list["next_before"])
	return list["drafts"].([]any)
}

// The two participants read a draft and its reply, and receive events about them; the order does not change.
func TestDraftsOverREST(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order := s.started()
	path := "/orders/" + of(order)
	require.Empty(t, s.drafts(s.customer, order))

	id, text := uuid.NewString(), "The first verse.\n\tIs this the tone?"
	made := s.draft(s.contractor, order, object{"operation_id": id, "text": text})
	made.has(201, object{"draft": object{"order_id": of(order), "number": 1, "text": text, "attachments": []any{}, "reply": nil}})
	draft := made.body["draft"].(object)
	again := s.draft(s.contractor, order, object{"operation_id": strings.ToUpper(id), "text": text}).is(200)
	require.Equal(t, string(made.raw), string(again.raw))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	s.draft(s.contractor, order, object{"operation_id": id, "text": "x"}).fault("idempotency_conflict")

	replied := s.reply(s.customer, order, of(draft), nil).
		has(200, object{"draft": object{"reply": object{"verdict": "changes", "text": "Lighter, please."}}})["draft"]
	second := s.draft(s.contractor, order, nil).has(201, object{"draft": object{"number": 2}})["draft"].(object)
	for _, reader := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Equal(t, []any{second, replied}, s.drafts(reader, order))
	}
	older := s.get(s.customer, path+"/drafts?before="+of(second)).ok(200)
	require.Equal(t, object{"drafts": []any{replied}, "next_before": nil}, older)
	s.get(s.customer, path+"/drafts?before="+uuid.NewString()).fault("not_found")
	s.get(s.customer, path+"/drafts?before=x").fault("invalid_id")

	require.Equal(t, []object{{"order_id": of(order), "draft_id": of(draft)}, {"order_id": of(order), "draft_id": of(second)}},
		s.told(s.customer, "2", "order.draft"))
	require.Equal(t, []object{{"order_id": of(order), "draft_id": of(draft), "verdict": "changes"}},
		s.told(s.contractor, "2", "order.draft_reply"))
	require.Empty(t, s.told(s.contractor, "2", "order.draft"))
	require.Empty(t, s.told(s.customer, "1", "order.draft"))
	require.Empty(t, s.told(s.contractor, "1", "order.draft_reply"))
	require.Equal(t, order, s.get(s.contractor, path).ok(200)["order"], "no draft changes the order, its version or its actions")
}

// Only the right side can send a draft or reply to it, and only in some states.
func TestDraftsAreRefused(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order, stranger, id := s.started(), s.Agent(), uuid.NewString()
	draft := s.draft(s.contractor, order, object{"operation_id": id}).ok(201)["draft"].(object)
	other := s.draft(s.contractor, s.started(), nil).ok(201)["draft"].(object)

	s.draft(stranger, order, nil).fault("not_found")
	s.draft(s.customer, order, nil).fault("forbidden")
	s.draft(s.contractor, object{"id": "x"}, nil).fault("invalid_id")
	s.reply(stranger, order, of(draft), nil).fault("not_found")
	s.reply(s.contractor, order, of(draft), nil).fault("forbidden")
	s.reply(s.customer, order, of(other), nil).fault("not_found")
	s.reply(s.customer, order, "x", nil).fault("invalid_id")
	s.get(stranger, "/orders/"+of(order)+"/drafts").fault("not_found")

	s.draft(s.contractor, order, object{"text": nil, "attachment_ids": []string{}}).fault("invalid_input")
	s.draft(s.contractor, order, object{"text": strings.Repeat("ж", 8001)}).fault("invalid_input")
	s.reply(s.customer, order, of(draft), object{"text": strings.Repeat("ж", 2001)}).fault("invalid_input")
	newest := s.draft(s.contractor, order, object{"text": strings.Repeat("ж", 8000)}).ok(201)["draft"].(object)
	s.reply(s.customer, order, of(draft), nil).fault("state_conflict")
	reply := object{"operation_id": uuid.NewString(), "verdict": "fine", "text": nil}
	answer := s.reply(s.customer, order, of(newest), reply)
	contains(t, answer.ok(200)["draft"].(object)["reply"].(object), object{"verdict": "fine", "text": nil})
	s.reply(s.customer, order, of(newest), nil).fault("state_conflict")
	repeated := s.reply(s.customer, order, of(newest), reply)
	require.Equal(t, string(answer.raw), string(repeated.raw))
	require.Equal(t, "true", repeated.header.Get("Idempotent-Replayed"))
	s.reply(s.customer, order, of(draft), reply).fault("idempotency_conflict")

	for number := 3; number <= 20; number++ {
		s.draft(s.contractor, order, nil).ok(201)
	}
	s.draft(s.contractor, order, nil).fault("state_conflict")
	last := s.drafts(s.customer, order)
	require.Len(t, last, 20)

	// Drafts and actions share one space of operation ids.
	used := object{"operation_id": uuid.NewString(), "result_text": "Done."}
	s.act(s.contractor, order, "deliver", object{"operation_id": id, "result_text": "Done."}).fault("idempotency_conflict")
	delivered := s.step(s.contractor, order, "deliver", used)
	s.draft(s.contractor, order, object{"operation_id": used["operation_id"]}).fault("idempotency_conflict")
	s.draft(s.contractor, delivered, nil).fault("state_conflict")
	s.reply(s.customer, delivered, of(last[0].(object)), nil).fault("state_conflict")
	s.draft(s.contractor, s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil), nil).fault("state_conflict")
	require.Len(t, s.drafts(s.customer, delivered), 20)
}

// Drafts hold files of their order; a file may be in several drafts of one order, both sides see it, and it can be delivered
// later.
func TestFilesOfDrafts(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	order, other := s.started(), s.started()
	file, second := s.File(s.contractor, attachments.Order), s.File(s.contractor, attachments.Order)
	with := func(files ...uuid.UUID) object { return object{"text": nil, "attachment_ids": files} }

	draft := s.draft(s.contractor, order, with(second, file)).ok(201)["draft"].(object)
	require.Nil(t, draft["text"])
	require.Equal(t, []string{second.String(), file.String()}, ids(draft["attachments"]))
	again := s.draft(s.contractor, order, with(file)).ok(201)["draft"].(object)
	require.Equal(t, []string{file.String()}, ids(again["attachments"]))
	require.Equal(t, []any{again, draft}, s.drafts(s.customer, order))
	s.get(s.customer, "/attachments/"+file.String()).ok(200)
	s.get(s.Agent(), "/attachments/"+file.String()).fault("not_found")

	s.draft(s.contractor, other, with(file)).fault("attachment_already_bound")
	for _, wrong := range []uuid.UUID{uuid.New(), s.File(s.customer, attachments.Order), s.File(s.contractor, attachments.Portfolio)} {
		s.draft(s.contractor, order, with(wrong)).fault("invalid_attachment")
	}
	require.Len(t, s.drafts(s.customer, order), 2)

	delivered := s.step(s.contractor, order, "deliver", object{"result_attachment_ids": []uuid.UUID{file}})
	require.Equal(t, []string{file.String()}, ids(delivered["result_attachments"]))
	require.Equal(t, []any{again, draft}, s.drafts(s.customer, order))
	s.get(s.customer, "/attachments/"+second.String()).ok(200)
	s.act(s.contractor, other, "deliver", object{"result_attachment_ids": []uuid.UUID{second}}).fault("attachment_already_bound")
}

func ids(list any) (all []string) {
	for _, record := range list.([]any) {
		all = append(all, of(record.(object)))
	}
	return all
}
