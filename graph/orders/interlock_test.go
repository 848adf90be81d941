package orders_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// holding opens a transaction of a test's own that runs a statement and keeps its locks until the returned function commits it.
func (s *table) holding(query string, args ...any) (commit func()) {
	s.t.Helper()
	tx, err := s.DB.SQL.BeginTx(s.t.Context(), &sql.TxOptions{})
	require.NoError(s.t, err)
	_, err = tx.ExecContext(s.t.Context(), query, args...)
	require.NoError(s.t, err)
	return func() { require.NoError(s.t, tx.Commit()) }
}

// awaitWaiting returns once so many statements of this world wait for a lock.
func (s *table) awaitWaiting(many int64) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == many
	}, 10*time.Second, 5*time.Millisecond)
}

// later runs a request beside the test.
func later(request func() (*orders.OrderResult, error)) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := request()
		done <- answer{result, err}
	}()
	return done
}

// A block that is under way decides: what rests on the friendship waits for it and is refused.
func TestCreateAndAcceptWaitForABlock(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	card := s.offer(true)
	commit := s.holding("UPDATE contacts SET state = 'blocked', blocked_by = requester_id")
	accept := later(s.acting(s.contractor, command(card, orders.Accept)))
	s.awaitWaiting(1)
	create := later(func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, s.terms(true)) })
	s.awaitWaiting(2)
	commit()
	require.Equal(t, fault.FriendshipRequired, (<-accept).code())
	require.Equal(t, fault.FriendshipRequired, (<-create).code())
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM orders"))
}

// What rests on the friendship and is under way goes first: the block waits for it.
func TestBlockWaitsForAnAccept(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	card := s.offer(true)
	commit := s.holding("LOCK TABLE order_events IN EXCLUSIVE MODE")
	accept := later(s.acting(s.contractor, command(card, orders.Accept)))
	s.awaitWaiting(1)
	block := later(func() (*orders.OrderResult, error) {
		_, err := s.Contacts.BlockContact(s.customer.Ctx, contacts.ActInput{ContactID: s.contact.String()})
		return nil, err
	})
	s.awaitWaiting(2)
	commit()
	require.Empty(t, (<-accept).code())
	require.Empty(t, (<-block).code())
	require.Equal(t, "funded", s.read(s.customer, card.ID).Order.State)
}

// A request that repeats one under way waits for its result, even where it would be refused by now.
func TestRepeatsWaitForTheFirst(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	terms := s.terms(true)
	create := func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }
	commit := s.holding("LOCK TABLE order_events IN EXCLUSIVE MODE")
	first := later(create)
	s.awaitWaiting(1)
	s.Exec("UPDATE settings SET fee_bps = 1")
	second := later(create)
	s.awaitWaiting(2)
	commit()
	made, again := <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())

	act := command(made.result.Order, orders.Accept)
	commit = s.holding("LOCK TABLE order_events IN EXCLUSIVE MODE")
	first = later(s.acting(s.contractor, act))
	s.awaitWaiting(1)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.customer.ID)
	second = later(s.acting(s.contractor, act))
	s.awaitWaiting(2)
	commit()
	made, again = <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())
}

// Whoever waited for an order sees what the one before left of it, not what it was when the wait began.
func TestTheSecondSeesWhatTheFirstDid(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	card := s.act(s.contractor, s.offer(true), orders.Accept)
	commit := s.holding("UPDATE orders SET state = 'in_progress', version = 3 WHERE id = $1", card.ID)
	stale := later(s.acting(s.contractor, command(card, orders.Start)))
	s.awaitWaiting(1)
	next := *card
	next.Version = 3
	fresh := later(s.acting(s.contractor, command(&next, orders.Deliver)))
	s.awaitWaiting(2)
	commit()
	require.Equal(t, fault.VersionConflict, (<-stale).code())
	delivered := <-fresh
	require.NoError(t, delivered.err)
	require.Equal(t, graphtest.Ptr("Shall I compare thee …"), delivered.result.Order.ResultText)
}
