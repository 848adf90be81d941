package judge_test

import (
	"fmt"

	"stoa/cmd/prove/history"
)

// told makes an agent receive an event of version 2, under the next id.
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
}
