package judge_test

import (
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

// told has an agent receive an event of version 2, under the next id.
func (s *story) told(agent, kind string, payload object) {
	s.event(agent, 20, fmt.Sprintf("e-later-%d", len(s.Deliveries)), kind, payload)
	s.Deliveries[len(s.Deliveries)-1].Asked = 2
}

// respond has an agent respond to a task of ann's.
func (s *story) respond(agent, task, response string) {
	s.ask(agent, history.TaskRespond, task+" by "+agent, task, 201, object{"response": object{"id": response}})
	s.told("ann", "task.responded", object{"task_id": task, "response_id": response, "bot_id": id(agent)})
}

// chosen has ann choose one of two responses to the task t3.
func (s *story) chosen() {
	s.ask("ann", history.TaskCreate, "", "ann", 201, object{"task": object{"id": "t3"}})
	s.respond("bob", "t3", "r3")
	s.respond("dan", "t3", "r4")
	a := s.ask("ann", history.TaskSelect, "choose", "", 201, object{"order": object{"id": "o3"}})
	a.Of, a.Sent = "t3", raw(object{"response_id": "r3"})
}

// draft has bob send a draft of the paid order, and ann reply to it.
func (s *story) draft() {
	s.ask("bob", history.DraftSend, "draft", "paid", 201, object{"draft": object{"id": "d1"}})
	s.ask("ann", history.DraftReply, "reply", "paid", 200, object{"draft": object{"id": "d1", "reply": object{"verdict": "changes"}}}).Of = "d1"
}

// answer has an operator answer bob's report.
func (s *story) answer() { s.ask("", history.FeedbackAnswer, "", "f1", 200, nil) }

// acted is the second event of the paid order, which says who did what, as one who asked for that version of the events gets it.
func (s *story) acted(asked int, action, actor string) {
	s.event("ann", 21, "e-paid-2-ann", "order.changed", object{
		"order_id": "paid", "status": "funded", "version": 2, "action": action, "actor_id": actor,
	})
	s.Deliveries[len(s.Deliveries)-1].Asked = asked
}

var laterDefects = []defect{
	{"a customer does not hear of a response", "events received", "ann never received task.responded r1", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "task.responded" })
	}},
	{"a response to another's task", "event contents", "it is for ann: task.respond by bob", func(s *story) {
		s.told("bob", "task.responded", object{"task_id": "t1", "response_id": "r1", "bot_id": id("bob")})
	}},
	{"a response of another agent", "event contents", `it says bot_id "id-of-cat" instead of "id-of-bob"`, func(s *story) {
		s.told("ann", "task.responded", object{"task_id": "t1", "response_id": "r1", "bot_id": id("cat")})
	}},
	{"a response that nobody made", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.told("ann", "task.responded", object{"task_id": "t1", "response_id": "r9", "bot_id": id("cat")})
	}},
	{"a response that is told twice", "event contents", "ann received task.responded r1 twice", func(s *story) {
		s.told("ann", "task.responded", object{"task_id": "t1", "response_id": "r1", "bot_id": id("bob")})
	}},
	{"who is selected does not hear of it", "events received", "bob never received task.selected r3", func(s *story) { s.chosen() }},
	{"who is not selected does not hear of it", "events received", "dan never received task.declined r4", func(s *story) { s.chosen() }},
	{"who is not selected hears that it is", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.chosen()
		s.told("dan", "task.selected", object{"task_id": "t3", "response_id": "r4", "order_id": "o3"})
	}},
	{"who is selected hears that it is not", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.chosen()
		s.told("bob", "task.declined", object{"task_id": "t3", "response_id": "r3"})
	}},
	{"another agent hears of a selection", "event contents", "it is for bob: order.select by ann", func(s *story) {
		s.chosen()
		s.told("dan", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "o3"})
	}},
	{"a selection with another order", "event contents", `it says order_id "paid" instead of "o3"`, func(s *story) {
		s.chosen()
		s.told("bob", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "paid"})
	}},
	{"a task that ended does not tell so", "events received", "bob never received task.declined r1", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "task.declined" })
	}},
	{"a customer does not hear of a draft", "events received", "ann never received order.draft d1", (*story).draft},
	{"a contractor does not hear of a reply", "events received", "bob never received order.draft_reply d1", (*story).draft},
	{"the contractor hears of its own draft", "event contents", "it is for ann: draft.send by bob", func(s *story) {
		s.draft()
		s.told("bob", "order.draft", object{"order_id": "paid", "draft_id": "d1"})
	}},
	{"a draft of another order", "event contents", `it says order_id "refunded" instead of "paid"`, func(s *story) {
		s.draft()
		s.told("ann", "order.draft", object{"order_id": "refunded", "draft_id": "d1"})
	}},
	{"another verdict", "event contents", `it says verdict "fine" instead of "changes"`, func(s *story) {
		s.draft()
		s.told("bob", "order.draft_reply", object{"order_id": "paid", "draft_id": "d1", "verdict": "fine"})
	}},
	{"who was rated does not hear of it", "events received", "bob never received order.rated ra1", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "order.rated" })
	}},
	{"who rated hears of it", "event contents", "it is for bob: rating.create by ann", func(s *story) {
		s.told("ann", "order.rated", object{"order_id": "paid", "rating_id": "ra1", "stars": 4})
	}},
	{"other stars", "event contents", `it says stars "5" instead of "4"`, func(s *story) {
		s.told("bob", "order.rated", object{"order_id": "paid", "rating_id": "ra1", "stars": 5})
	}},
	{"a receipt of an open order", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.half("open")
		s.told("ann", "order.receipt", object{"order_id": "open", "receipt_id": "x"})
	}},
	{"another receipt", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.told("ann", "order.receipt", object{"order_id": "paid", "receipt_id": "x"})
	}},
	{"who has reported does not hear of the answer", "events received", "bob never received feedback.answered f1", func(s *story) { s.answer() }},
	{"an answer that no operator gave", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.told("bob", "feedback.answered", object{"feedback_id": "f1"})
	}},
	{"an answer to another's feedback", "event contents", "it is for bob", func(s *story) {
		s.answer()
		s.told("cat", "feedback.answered", object{"feedback_id": "f1"})
	}},
	{"a later kind on an earlier version", "event contents", "an earlier version of the events does not have it", func(s *story) {
		s.told("bob", "task.declined", object{"task_id": "t1", "response_id": "r1"})
		s.Deliveries[len(s.Deliveries)-1].Asked = 1
	}},
	{"who did it on an earlier version", "event contents", "does not say who did what", func(s *story) { s.acted(1, "accept", id("bob")) }},
	{"another did it", "event contents", `it says actor_id "id-of-ann" instead of "id-of-bob"`, func(s *story) { s.acted(2, "accept", id("ann")) }},
	{"something else was done", "event contents", `it says action "start" instead of "accept"`, func(s *story) { s.acted(2, "start", id("bob")) }},
	{"it is not said who did it", "event contents", `it says actor_id "" instead of "id-of-bob"`, func(s *story) { s.acted(2, "", "") }},
}

var laterAllowed = []innocent{
	{"all hear of a selection", "event contents", func(s *story) {
		s.chosen()
		s.told("bob", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "o3"})
		s.told("dan", "task.declined", object{"task_id": "t3", "response_id": "r4"})
	}},
	{"all have heard of a selection", "events received", func(s *story) {
		s.chosen()
		s.told("bob", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "o3"})
		s.told("dan", "task.declined", object{"task_id": "t3", "response_id": "r4"})
	}},
	{"a response that may have been withdrawn", "events received", func(s *story) {
		s.chosen()
		s.told("bob", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "o3"})
		s.ask("dan", history.ResponseWithdraw, "", "r4", history.Unanswered, nil).Of = "t3"
	}},
	{"a response whose answer was lost", "event contents", func(s *story) {
		s.ask("dan", history.TaskRespond, "t1 by dan", "t1", history.Unanswered, nil)
		s.now += time.Second
		s.told("ann", "task.responded", object{"task_id": "t1", "response_id": "r9", "bot_id": id("dan")})
	}},
	{"a draft and its reply", "event contents", func(s *story) {
		s.draft()
		s.told("ann", "order.draft", object{"order_id": "paid", "draft_id": "d1"})
		s.told("bob", "order.draft_reply", object{"order_id": "paid", "draft_id": "d1", "verdict": "changes"})
	}},
	{"a receipt", "event contents", func(s *story) {
		s.told("bob", "order.receipt", object{"order_id": "paid", "receipt_id": "receipt-paid"})
	}},
	{"an answer", "event contents", func(s *story) {
		s.answer()
		s.told("bob", "feedback.answered", object{"feedback_id": "f1"})
	}},
	{"who did what", "event contents", func(s *story) { s.acted(2, "accept", id("bob")) }},
	{"the same on an earlier version", "event contents", func(s *story) { s.acted(1, "", "") }},
}
