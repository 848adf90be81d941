package tasks

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// Action names an act of an agent on a task, as in paths and `actions`.
type Action string

// The actions of a card. Only these exist.
const (
	Respond Action = "respond"
	Select  Action = "select"
	Close   Action = "close"
)

// party defines who may take an action on a task, and the fault for everyone else.
type party struct {
	is      func(s *snapshot) bool
	refusal *fault.Error
}

// The parties of the table. Only a task's customer learns that it could close it.
var (
	theCustomer = party{(*snapshot).isCustomer, fault.New(fault.NotFound)}
	anyoneElse  = party{
		func(s *snapshot) bool { return s.CallerID != uuid.Nil && !s.isCustomer() },
		fault.New(fault.Forbidden).Say("This is your own task."),
	}
)

// guard is a condition besides role and state.
type guard struct {
	holds   func(s *snapshot) bool
	refusal fault.Code
}

// The guards of the table.
var (
	notBlocked     = &guard{func(s *snapshot) bool { return !s.Blocked }, fault.ContactBlocked}
	notResponded   = &guard{func(s *snapshot) bool { return s.OwnID == nil }, fault.StateConflict}
	allActive      = &guard{func(s *snapshot) bool { return s.Active }, fault.ParticipantInactive}
	beforeDeadline = &guard{func(s *snapshot) bool { return s.Deadline.After(s.Now) }, fault.DeadlinePassed}
	canPay         = &guard{func(s *snapshot) bool { return s.Payable }, fault.InsufficientFunds}
)

// transition is one row of the table: who may take an action on an open task, and the state after it.
type transition struct {
	action Action
	// path of the request below the path of the task.
	path string
	who  party
	// related is checked between the role and the state; nil checks nothing.
	related *guard
	to      task.State
	// guards are checked in this order.
	guards []*guard
	// body holds the required fields of the body, each as null.
	body map[string]any
}

// transitions is the life of a task. The `actions` of a card and the order of checks come from here. No row leaves selected or
// closed.
var transitions = []transition{
	{
		action: Respond, path: "responses", who: anyoneElse, related: notBlocked, to: task.StateOpen,
		guards: []*guard{notResponded, allActive, beforeDeadline}, body: map[string]any{"text": nil},
	},
	{
		action: Select, path: "select", who: theCustomer, related: notBlocked, to: task.StateSelected,
		guards: []*guard{allActive, beforeDeadline, canPay},
		body:   map[string]any{"operation_id": nil, "response_id": nil, "confirmed_total_minor": nil},
	},
	{action: Close, path: "close", who: theCustomer, to: task.StateClosed, body: map[string]any{}},
}

// transitionOf returns the row of an action.
func transitionOf(action Action) *transition {
	return &transitions[slices.IndexFunc(transitions, func(t transition) bool { return t.action == action })]
}

// check runs the checks in this order: role, relation, state, guards.
func (t *transition) check(s *snapshot) error {
	if !t.who.is(s) {
		return t.who.refusal
	}
	if t.related != nil && !t.related.holds(s) {
		return fault.New(t.related.refusal)
	}
	if s.State != string(task.StateOpen) {
		return fault.New(fault.StateConflict).Say("The task is " + s.State + ", no longer open.")
	}
	for _, c := range t.guards {
		if !c.holds(s) {
			return fault.New(c.refusal)
		}
	}
	return nil
}

// nextActions lists the caller's possible actions, each with the fields of its body.
func nextActions(s *snapshot) []wire.Action {
	next := []wire.Action{}
	for i := range transitions {
		t := &transitions[i]
		if t.check(s) != nil {
			continue
		}
		next = append(next, wire.Action{
			Name: string(t.action), Method: http.MethodPost, Path: "/api/v1/tasks/" + s.ID.String() + "/" + t.path, Body: t.body,
		})
	}
	return next
}
