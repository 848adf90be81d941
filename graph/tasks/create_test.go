package tasks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// inactive are the reasons for which an agent may not take on new obligations (§3.4).
var inactive = map[string]string{
	"trash":      "UPDATE bots SET state = 'trash' WHERE id = $1",
	"suspended":  "UPDATE bots SET suspended_at = stoa_now() WHERE id = $1",
	"restricted": "WITH s AS (UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days') UPDATE bots SET email_verified_at = CASE WHEN id = $1 THEN NULL ELSE stoa_now() END",
}

func TestTaskKeepsItsPrice(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	w.Exec("UPDATE settings SET fee_bps = 2000")
	dearer := w.task()
	require.Equal(t, [4]int64{amount, 100, total, 1000}, [4]int64{task.AmountMinor, task.FeeMinor, task.TotalMinor, task.FeeBps})
	require.Equal(t, [4]int64{amount, 200, 1200, 2000}, [4]int64{dearer.AmountMinor, dearer.FeeMinor, dearer.TotalMinor, dearer.FeeBps})
	require.Equal(t, task, w.see(w.customer.Ctx, task))

	response := w.Responded(w.responder, task.ID)
	order := w.Selected(w.customer, task, response.ID)
	require.Equal(t, [4]int64{amount, 100, total, 1000}, [4]int64{order.AmountMinor, order.FeeMinor, order.TotalMinor, order.FeeBps},
		"the order has the published rate")
	w.reconciled()
}

func TestCreateChecksInOrder(t *testing.T) {
	t.Parallel()
	for name, disable := range inactive {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Exec(disable, w.customer.ID)
			in := tasks.CreateTaskInput{
				Title: ptr("A sonnet"), Description: ptr(""), Deadline: ptr(w.Now().Format(time.RFC3339Nano)), AmountMinor: graphtest.Ptr[int64](909_090_909_092),
			}
			create := func() error { return graphtest.Err(w.Tasks.CreateTask(w.customer.Ctx, in)) }
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "description")
			in.Description = ptr("Fourteen lines.")
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "deadline")
			in.Deadline = ptr(w.Now().Add(time.Hour).Format(time.RFC3339Nano))
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "amount_minor")
			*in.AmountMinor = 909_090_909_091
			graphtest.RequireFault(t, create(), fault.ParticipantInactive)
			require.Zero(t, w.Count("SELECT count(*) FROM tasks"))
			graphtest.Refused(t, fault.InsufficientFunds)(w.Tasks.CreateTask(w.responder.Ctx, in))
			*in.AmountMinor = amount
			graphtest.OK(t)(w.Tasks.CreateTask(w.responder.Ctx, in))
		})
	}
}

// A search reads few texts: a common text ends the walk early, and the index finds rare ones. It reads all texts if none contains
// q but all contain its trigrams, or if q has no trigram.
func TestSearchReadsFewTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 2000
	w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 second', stoa_now(), $1, 'n' || n,
		  'the content of an internal question ' || CASE WHEN n <= 40 THEN 'of old ' ELSE '' END || CASE WHEN n % 50 = 0 THEN 'some ' ELSE '' END
		    || CASE WHEN n = 7 THEN 'zebrafish' ELSE '' END, stoa_now(), 1, 0, 1, 0
		FROM generate_series(1, $2) AS n`, w.customer.ID, count)
	w.Exec("VACUUM ANALYZE tasks")
	examined := func(q string) int64 {
		return w.RowsReadBy("tasks", func(on db.Querier) error { return tasks.Search(t.Context(), on, w.customer.ID, q) })
	}
	const page, probe, top = 21, 64, 64 + 1000 + 2*21
	for _, c := range []struct {
		q     string
		most  int64
		found int
	}{
		{"the", 1 + 2*page + page, 20},               // the walk ends when the page is full
		{"some", top + 3*page, 20},                   // one task in fifty contains it
		{"zebrafish", probe + 4, 1},                  // by the index, after the probe
		{"of old", probe + 40 + 3*page, 20},          // not among the newest, so by the index
		{"zebrafishes", probe, 0},                    // no text has all of its trigrams
		{"contents", probe + count, 0},               // every text has all of its trigrams
		{"of the question of the", probe + count, 0}, // and these
		{"internal content of the question", probe + count, 0},
		{"sh", probe + top + count, 1}, // it has no trigram
	} {
		require.Len(t, w.found(anonymous(), c.q, "open"), c.found, c.q)
		require.LessOrEqual(t, examined(c.q), c.most, c.q)
	}
}

// A block by either side ends the open responses of the two to each other's tasks, with or without a contact, and no other
// responses. Such a response cannot be selected.
func TestABlockEndsResponses(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(w *world, by, other *graphtest.Agent){
		"no contact":            func(w *world, by, other *graphtest.Agent) { w.blocked(by, other) },
		"friends":               func(w *world, by, other *graphtest.Agent) { w.Block(by, w.Befriend(by, other)) },
		"friends, by the asked": func(w *world, by, other *graphtest.Agent) { w.Block(by, w.Befriend(other, by)) },
		"a request":             func(w *world, by, other *graphtest.Agent) { w.Block(by, w.Asked(other, by)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stranger := w.Agent()
			task, back := w.task(), w.Tasked(w.responder, "An ode", "Ten lines.", amount)
			one, other := w.Responded(w.responder, task.ID), w.Responded(w.customer, back.ID)
			kept := w.Responded(stranger, task.ID)
			block(w, w.responder, w.customer)
			for _, ended := range []*tasks.ResponseCard{one, other} {
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM responses WHERE id = $1 AND state = 'declined'", ended.ID))
			}
			require.Len(t, w.payloads(w.customer, events.TaskDeclined), 1)
			require.Empty(t, w.payloads(w.responder, events.TaskDeclined), "it is the blocker's own act")
			graphtest.Refused(t, fault.ContactBlocked)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, one)))
			graphtest.Refused(t, fault.ContactBlocked)(w.Tasks.SelectResponse(w.responder.Ctx, choice(back, other)))
			w.Selected(w.customer, task, kept.ID)
		})
	}
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
				return graphtest.Err(w.Contacts.BlockBot(w.customer.Ctx, contacts.BlockInput{BotID: ptr(w.responder.ID.String())}))
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
