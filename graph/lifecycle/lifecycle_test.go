package lifecycle_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/orders"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/graph/ratings"
)

// world is a server whose operator has activated the lifecycle.
type world struct {
	*graphtest.World
	t   *testing.T
	box *graphtest.Mailbox
}

func newWorld(t *testing.T) *world {
	t.Helper()
	box := new(graphtest.Mailbox)
	w := &world{graphtest.New(t, graphtest.WithMail(box)), t, box}
	w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	return w
}

const owner = "ada@example.org"

// owned registers an agent that has an owner.
func (w *world) owned() *graphtest.Agent {
	agent := w.Agent()
	w.give(agent)
	return agent
}

// give gives an agent an owner.
func (w *world) give(agent *graphtest.Agent) {
	address := owner
	asked := graphtest.Got(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: &address}))(w.t)
	w.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", asked.ChallengeID)
	graphtest.OK(w.t)(w.Owners.VerifyOwnerEmail(agent.Ctx, owners.CodeInput{
		ChallengeID: graphtest.Ptr(asked.ChallengeID.String()), Code: graphtest.Ptr(w.Email.Code(asked.ChallengeID)),
	}))
}

// offer has one agent offer another an order.
func (w *world) offer(customer, contractor *graphtest.Agent) *orders.Card {
	total := int64(1100)
	return graphtest.Got(w.Orders.CreateOrder(customer.Ctx, orders.CreateInput{
		OperationID: graphtest.Ptr(uuid.NewString()), ContractorID: graphtest.Ptr(contractor.ID.String()),
		Title: graphtest.Ptr("Echo"), Description: graphtest.Ptr("Say it again."), Deadline: graphtest.Ptr("2999-01-01T00:00:00Z"),
		AmountMinor: graphtest.Ptr(int64(1000)), ConfirmedTotalMinor: &total,
	}))(w.t).Order
}

// rated lets an agent rate another, as the customer of an order that is closed.
func (w *world) rated(by, of *graphtest.Agent) {
	order := w.offer(by, of).ID.String()
	w.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE id = $1", order)
	graphtest.OK(w.t)(w.Ratings.RateOrder(by.Ctx, ratings.RateInput{
		OrderID: order, OperationID: graphtest.Ptr(uuid.NewString()), Stars: graphtest.Ptr(int64(4)), Text: graphtest.Ptr("As I said."),
	}))
}

func (w *world) run() lifecycle.Done {
	return graphtest.Got(w.Lifecycle.Run(context.Background()))(w.t)
}

func (w *world) state(agent *graphtest.Agent) string {
	return graphtest.Got(w.DB.Ent.Bot.Get(context.Background(), agent.ID))(w.t).State.String()
}

// notices counts the owner's mails that are notices.
func (w *world) notices() (n int) {
	for _, mail := range w.Mails(owner) {
		if mail.Subject == "Your agent on Stoa is inactive" {
			n++
		}
	}
	return n
}

func TestFromInactivityToDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, stray := w.owned(), w.Agent()
	require.Zero(t, w.run())
	w.ShiftMonths(3, time.Hour)
	require.Equal(t, lifecycle.Done{Trashed: 2, Notified: 1}, w.run())
	require.Equal(t, 1, w.notices())
	require.Equal(t, lifecycle.Done{}, w.run(), "one notice is enough")
	card := graphtest.Got(w.Onboarding.Onboarding(agent.Ctx))(t)
	require.NotNil(t, card.Lifecycle.DeletionAfter)
	require.WithinDuration(t, w.InMonths(w.Now(), 1), *card.Lifecycle.DeletionAfter, time.Hour)
	w.ShiftMonths(1, -2*time.Hour)
	require.Zero(t, w.run().Deleted)
	w.Shift(3 * time.Hour)
	require.Equal(t, lifecycle.Done{Deleted: 1}, w.run())
	require.Equal(t, "deleted", w.state(agent))
	require.Equal(t, lifecycle.Done{}, w.run())

	w.ShiftMonths(24, 0)
	require.Equal(t, lifecycle.Done{}, w.run())
	require.Equal(t, "trash", w.state(stray), "without an owner it stays in the trash")
	require.EqualValues(t, 1, w.Count("SELECT passports FROM owner_emails WHERE address = $1", owner), "the counter outlives deletion")
	require.Zero(t, w.Count("SELECT count(*) FROM bot_owners"))
}

// The month before deletion begins when the mail server accepts the notice.
func TestANoticeThatIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.owned()
	var open atomic.Bool
	w.box.Refuse = func(*email.Message) error {
		if open.Load() {
			return nil
		}
		return &email.RefusedError{Answer: "550 no such user"}
	}
	w.ShiftMonths(3, time.Hour)
	require.EqualValues(t, 1, w.run().Notified)
	w.ShiftMonths(2, 0)
	require.Equal(t, lifecycle.Done{Notified: 1}, w.run(), "it is tried again, a week later")
	w.Shift(6 * 24 * time.Hour)
	require.Equal(t, lifecycle.Done{}, w.run())
	open.Store(true)
	w.Shift(2 * 24 * time.Hour)
	require.Equal(t, lifecycle.Done{Notified: 1}, w.run())
	w.ShiftMonths(1, -time.Hour)
	require.Zero(t, w.run().Deleted)
	require.Equal(t, "trash", w.state(agent))
	w.Shift(2 * time.Hour)
	require.EqualValues(t, 1, w.run().Deleted)
}

// A notice that waits in the queue confirms nothing.
func TestANoticeThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.owned()
	w.box.Refuse = func(*email.Message) error { return errors.New("451 later") }
	w.ShiftMonths(3, time.Hour)
	require.EqualValues(t, 1, w.run().Notified)
	w.ShiftMonths(2, 0)
	require.Zero(t, w.run().Deleted)
	require.Zero(t, w.Count("SELECT count(*) FROM trash_notices WHERE sent_at IS NOT NULL"))
}

func TestWaysOutOfTheTrash(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*world, *graphtest.Agent){
		"restore": func(w *world, _ *graphtest.Agent) {
			handle, address := "agent_1", owner
			w.Exec("UPDATE settings SET restore_enabled = true")
			graphtest.OK(w.t)(w.Owners.RequestRestore(context.Background(), owners.RestoreInput{Handle: &handle, Email: &address}))
			for _, job := range w.AskedJobs() {
				if asked, ok := job.(owners.RestoreJob); ok {
					require.NoError(w.t, w.Owners.ExamineRestore(context.Background(), asked.RestoreID))
					r, err := w.Owners.Restore(context.Background(), asked.RestoreID, w.Email.LinkToken(email.RestoreLink, asked.RestoreID))
					require.NoError(w.t, err)
					require.NotEmpty(w.t, r.Token)
				}
			}
		},
		"reinstateBot": func(w *world, agent *graphtest.Agent) {
			ctx := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
			graphtest.OK(w.t)(w.Operator.ReinstateBot(ctx, agent.ID, "asked"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			agent := w.owned()
			w.ShiftMonths(3, time.Hour)
			require.EqualValues(t, 1, w.run().Trashed)
			require.NoError(t, w.Auth.NoteActivity(context.Background(), []uuid.UUID{agent.ID}))
			require.Equal(t, lifecycle.Done{}, w.run())
			require.Equal(t, "trash", w.state(agent), "a request in the trash does not lead out of it")
			leave(&world{w.World, t, w.box}, agent)
			require.Equal(t, "active", w.state(agent))
			w.ShiftMonths(2, 0)
			require.Equal(t, lifecycle.Done{}, w.run(), "neither deleted nor in the trash again")
			w.ShiftMonths(1, 2*time.Hour)
			require.Equal(t, lifecycle.Done{Trashed: 1, Notified: 1}, w.run(), "the inactivity counts anew, and so does the notice")
		})
	}
}

// If an agent gets an owner while it is in the trash, the owner gets a notice.
func TestAnOwnerInTheTrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.ShiftMonths(3, time.Hour)
	require.Equal(t, lifecycle.Done{Trashed: 1}, w.run())
	w.ShiftMonths(3, 0)
	require.Equal(t, lifecycle.Done{}, w.run())
	w.give(agent)
	require.Equal(t, lifecycle.Done{Notified: 1}, w.run())
	w.ShiftMonths(1, time.Hour)
	require.Equal(t, lifecycle.Done{Deleted: 1}, w.run())
}

func TestObstaclesToDeletion(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"suspended":   "UPDATE bots SET suspended_at = stoa_now()",
		"deactivated": "UPDATE settings SET lifecycle_activated_at = NULL",
		"reserved":    "UPDATE accounts SET reserved_minor = 1, available_minor = available_minor - 1 WHERE bot_id IS NOT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.owned()
			w.ShiftMonths(3, time.Hour)
			require.EqualValues(t, 1, w.run().Notified)
			w.Exec(change)
			w.ShiftMonths(2, 0)
			require.Zero(t, w.run().Deleted)
		})
	}
}

// The lifecycle leaves an agent to the erasure that was requested, which also erases its owner's address and stores a record.
func TestARequestedErasureComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var records []lifecycle.Erased
	w.Lifecycle.RecordErased = func(e lifecycle.Erased) error {
		records = append(records, e)
		return nil
	}
	agent := w.owned()
	w.ShiftMonths(3, time.Hour)
	require.Equal(t, lifecycle.Done{Trashed: 1, Notified: 1}, w.run())
	w.ShiftMonths(1, -2*time.Hour)
	handle, id := graphtest.Got(w.DB.Ent.Bot.Get(t.Context(), agent.ID))(t).Handle, uuid.NewString()
	graphtest.OK(t)(w.Lifecycle.RequestErasure(agent.Ctx, lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: &handle}))
	w.Shift(3 * time.Hour)
	require.Zero(t, w.run())
	w.Shift(7 * 24 * time.Hour)
	require.Zero(t, w.run())
	require.EqualValues(t, 1, graphtest.Got(w.Lifecycle.Erase(t.Context()))(t))
	require.Equal(t, "deleted", w.state(agent))
	require.Len(t, records, 1)
	require.Empty(t, w.Traces(owner))
}

// Several processes may run the lifecycle at once.
func TestManyAgentsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 12 {
		agent := w.Agent()
		w.Exec("INSERT INTO owner_emails (address, created_at) VALUES ($1, stoa_now()) ON CONFLICT DO NOTHING", owner)
		w.Exec(`INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents)
			VALUES ($1, $2, stoa_now(), stoa_now(), '[]')`, agent.ID, owner)
	}
	together := func() (sum lifecycle.Done) {
		var done [4]lifecycle.Done
		codes := graphtest.AtOnce(len(done), func(i int) (err error) {
			done[i], err = w.Lifecycle.Run(context.Background())
			return err
		})
		require.Equal(t, map[fault.Code]int{"": len(done)}, codes.Count())
		for _, one := range done {
			sum.Trashed, sum.Notified, sum.Deleted = sum.Trashed+one.Trashed, sum.Notified+one.Notified, sum.Deleted+one.Deleted
		}
		return sum
	}
	w.ShiftMonths(3, time.Hour)
	first := together()
	first.Notified += together().Notified // one may have looked before another had moved them
	require.EqualValues(t, 12, first.Trashed)
	require.EqualValues(t, 12, first.Notified)
	require.Equal(t, 12, w.notices())
	together()
	w.ShiftMonths(1, time.Hour)
	require.EqualValues(t, 12, together().Deleted)
}

// A whole batch of agents whose notice fails does not delay the notice or the deletion of another agent.
func TestFailingAgentsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.owned()
	w.ShiftMonths(3, time.Hour)
	require.EqualValues(t, 1, w.run().Notified)
	w.ShiftMonths(1, time.Hour)
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", w.owned().ID)
	w.Exec(`WITH made AS (
			INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at, state)
			SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, stoa_now(), stoa_now(), 'first_' || n, 'First',
				decode(repeat('09', 32), 'hex'), stoa_now(), 'trash'
			FROM generate_series(1, 500) n RETURNING id)
		INSERT INTO bot_owners (bot_id, address, written, verified_at, confirmed_at, documents)
		SELECT id, $1, 'no address', stoa_now(), stoa_now(), '[]' FROM made`, owner)
	done, err := w.Lifecycle.Run(context.Background())
	require.Error(t, err)
	require.Equal(t, lifecycle.Done{Notified: 1, Deleted: 1}, done)
}

// The job collects statistics of the tables whose rows have changed, also if no agent was erased.
func TestStatisticsOfChangedTables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec("ANALYZE bots")
	w.Exec("UPDATE bots SET bio = 'new' WHERE id = $1", agent.ID)
	collects := func(table string) (collected bool) {
		const count = "SELECT analyze_count FROM pg_stat_user_tables WHERE relname = $1"
		before := w.Count(count, table)
		require.NoError(t, w.Lifecycle.ClearTraces(t.Context()))
		return w.Count(count, table) > before
	}
	require.Eventually(t, func() bool { return collects("bots") }, slack.TestWait, 10*time.Millisecond, "PostgreSQL counts late")
	require.Eventually(t, func() bool { return !collects("services") && !collects("bots") }, slack.TestWait, 10*time.Millisecond)
}
