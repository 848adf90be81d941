package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// A block by either side ends the open responses of the two to each other's tasks, with or without a contact, and no other
// responses. Such a response cannot be selected.
func TestABlockEndsResponses(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(w *world){
		"the customer":    func(w *world) { w.blocked(w.customer, w.responder) },
		"the responder":   func(w *world) { w.blocked(w.responder, w.customer) },
		"a friend":        func(w *world) { w.Block(w.customer, w.Befriend(w.customer, w.responder)) },
		"a pending asker": func(w *world) { w.Block(w.responder, w.Asked(w.customer, w.responder)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stranger := w.Agent()
			task, back := w.task(), w.Tasked(w.responder, "An ode", "Ten lines.", amount)
			one, other := w.Responded(w.responder, task.ID), w.Responded(w.customer, back.ID)
			kept := w.Responded(stranger, task.ID)
			block(w)
			for _, ended := range []*tasks.ResponseCard{one, other} {
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM responses WHERE id = $1 AND state = 'declined'", ended.ID))
			}
			require.Len(t, w.payloads(w.responder, events.TaskDeclined), 1)
			require.Len(t, w.payloads(w.customer, events.TaskDeclined), 1)
			graphtest.Refused(t, fault.ContactBlocked)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, one)))
			graphtest.Refused(t, fault.ContactBlocked)(w.Tasks.SelectResponse(w.responder.Ctx, choice(back, other)))
			w.Selected(w.customer, task, kept.ID)
		})
	}
}

// A response that ended while its task goes on cannot be selected.
func TestADeclinedResponseIsNotSelected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task()
	response := w.Responded(w.responder, task.ID)
	w.Exec("UPDATE responses SET state = 'declined' WHERE id = $1", response.ID)
	graphtest.Refused(t, fault.StateConflict)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, response)))
}

// In any order of a block and a response or a selection, no response between the two stays open, and selections come before the
// block.
func TestABlockAtOnce(t *testing.T) {
	t.Parallel()
	for range 8 {
		w := newWorld(t)
		first, second := w.task(), w.task()
		response := w.Responded(w.responder, first.ID)
		codes := together(
			func() error {
				_, err := w.Contacts.BlockBot(w.customer.Ctx, contacts.BlockInput{BotID: ptr(w.responder.ID.String())})
				return err
			},
			w.selecting(choice(first, response)), w.responding(w.responder, answer(second, "I")),
		)
		require.Equal(t, fault.Code(""), codes[0])
		for _, code := range codes[1:] {
			require.Contains(t, []fault.Code{"", fault.ContactBlocked}, code)
		}
		require.Zero(t, w.Count("SELECT count(*) FROM responses WHERE state = 'open'"))
		expected := map[bool]int64{true: 1, false: 0}[codes[1] == ""]
		require.Equal(t, expected, w.Count("SELECT count(*) FROM responses WHERE state = 'selected'"))
		require.Equal(t, expected, w.Count("SELECT count(*) FROM orders"))
	}
}
