package judge_test

import (
	"time"

	"stoa/cmd/prove/history"
)

// call makes the last attempt one in whose place a tool was called.
func call(a *history.Attempt) *history.Attempt {
	a.Tool = true
	return a
}

var toolDefects = []defect{
	{"a tool acts twice on an order", "repeats", "acted in 2 attempts", func(s *story) { call(s.again("paid-3")).Replayed = false }},
	{"two answers of tools differ", "repeats", "order.version is 9 instead of 3", func(s *story) {
		call(s.again("paid-3")).Body = raw(object{"order": object{"id": "paid", "version": 3}})
		call(s.again("paid-3")).Body = raw(object{"order": object{"id": "paid", "version": 9}})
	}},
	{"a tool shows another state", "orders", "explains order.dispute", func(s *story) {
		a := call(s.ask("ann", history.OrderDispute, "late", "paid", 200, object{"order": object{"id": "paid", "version": 6, "state": "disputed"}}))
		a.Version = 5
	}},
	{"a tool refuses what is allowed", "refusals", "was not allowed at that moment", func(s *story) {
		call(s.refused("ann", history.PostUpdate, "", "p2", 404, "not_found"))
	}},
	{"too few calls are under way", "refusals", "nothing allows this refusal", func(s *story) {
		call(s.refused("bob", history.OrderStart, "busy", "paid", 429, "rate_limited"))
	}},
}

var toolsAllowed = []innocent{
	{"a tool leaves members out", "repeats", func(s *story) {
		call(s.again("paid-3")).Body = raw(object{"order": object{"id": "paid", "version": 3}})
		call(s.again("paid-3")).Body = raw(object{"order": object{"id": "paid", "version": 3}})
	}},
	{"a fifth call at once", "refusals", func(s *story) {
		for range 4 {
			call(s.ask("bob", history.TaskCreate, "", "bob", 201, object{"task": object{"id": "t"}})).End += time.Second
		}
		call(s.refused("bob", history.OrderStart, "busy", "paid", 429, "rate_limited"))
	}},
}
