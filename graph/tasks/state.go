package tasks

import (
	"net/http"

	"stoa/ent/task"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// Action is what may be done to a task, as paths and `actions` spell it.
type Action string

// The actions of a card. Only these exist.
const (
	Respond Action = "respond"
	Select  Action = "select"
	Close   Action = "close"
)

// party is who may do something to a task, and what everyone else is told.
type party struct {
	is      func(s *situation) bool
	refusal fault.Code
}

// The parties of the table. Nobody but its customer learns that a task could be closed.
var (
	theCustomer = party{(*situation).isCustomer, fault.NotFound}
	anyoneElse  = party{func(s *situation) bool { return s.caller != nil && !s.isCustomer() }, fault.Forbidden}
)

// condition is what must hold besides role and state.
type condition struct {
	holds   func(s *situation) bool
	refusal fault.Code
}

// The conditions of the table.
var (
	unanswered     = &condition{func(s *situation) bool { return s.own == nil }, fault.IdempotencyConflict}
	allActive      = &condition{func(s *situation) bool { return s.active }, fault.ParticipantInactive}
	beforeDeadline = &condition{func(s *situation) bool { return s.task.Deadline.After(s.now) }, fault.DeadlinePassed}
	canPay         = &condition{func(s *situation) bool { return s.payable }, fault.InsufficientFunds}
)

// transition is one row of the table: who may do what to an open task, and what becomes of it.
type transition struct {
	action Action
	// under is the path of the request under the task's own.
	under string
	who   party
	to    task.State
	// needs must hold as well, in the order in which they are checked.
	needs []*condition
	// body is what the caller has to send.
	body []string
}

// transitions is the life of a task. The `actions` of a card and the order of checks come from here. No row leaves selected or
// closed.
var transitions = []transition{
	{action: Respond, under: "responses", who: anyoneElse, to: task.StateOpen, needs: []*condition{unanswered, allActive, beforeDeadline}, body: []string{"text"}},
	{
		action: Select, under: "select", who: theCustomer, to: task.StateSelected, needs: []*condition{allActive, beforeDeadline, canPay},
		body: []string{"operation_id", "response_id", "confirmed_total_minor"},
	},
	{action: Close, under: "close", who: theCustomer, to: task.StateClosed},
}

// find returns the row of an action.
func find(action Action) *transition {
	for i := range transitions {
		if transitions[i].action == action {
			return &transitions[i]
		}
	}
	return nil
}

// refuse is the order of checks: role, state, and what else the action needs.
func (t *transition) refuse(s *situation) error {
	if !t.who.is(s) {
		return fault.New(t.who.refusal)
	}
	if s.task.State != task.StateOpen {
		return fault.New(fault.StateConflict)
	}
	for _, c := range t.needs {
		if !c.holds(s) {
			return fault.New(c.refusal)
		}
	}
	return nil
}

// nextActions lists what the caller may do now, each with what its body must hold.
func nextActions(s *situation) []wire.Action {
	next := []wire.Action{}
	for i := range transitions {
		t := &transitions[i]
		if t.refuse(s) != nil {
			continue
		}
		body := make(map[string]any, len(t.body))
		for _, field := range t.body {
			body[field] = nil
		}
		next = append(next, wire.Action{
			Name: string(t.action), Method: http.MethodPost, Path: "/api/v1/tasks/" + s.task.ID.String() + "/" + t.under, Body: body,
		})
	}
	return next
}
