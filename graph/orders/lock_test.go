package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// async runs a request in the background.
func async(request func() (*orders.OrderResult, error)) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := request()
		done <- answer{result, err}
	}()
	return done
}

// If a block comes first, an operation that needs the friendship waits for it and is refused.
func TestCreateAndAcceptWaitForBlock(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.offer(true)
	commit := s.Hold("UPDATE contacts SET state = 'blocked', blocked_by = requester_id")
	accept := async(s.actRequest(s.contractor, command(card, orders.Accept)))
	s.AwaitLocks(1)
	create := async(func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, s.terms(true)) })
	s.AwaitLocks(2)
	commit()
	require.Equal(t, fault.FriendshipRequired, (<-accept).code())
	require.Equal(t, fault.FriendshipRequired, (<-create).code())
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM orders"))
}

// If an operation that needs the friendship comes first, the block waits for it.
func TestBlockWaitsForAccept(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.offer(true)
	commit := s.Hold("SELECT FROM accounts WHERE bot_id = $1 FOR UPDATE", s.customer.ID)
	accept := async(s.actRequest(s.contractor, command(card, orders.Accept)))
	s.AwaitLocks(1)
	block := async(func() (*orders.OrderResult, error) {
		_, err := s.Contacts.BlockContact(s.customer.Ctx, contacts.ActInput{ContactID: s.contact.String()})
		return nil, err
	})
	s.AwaitLocks(2)
	commit()
	require.Empty(t, (<-accept).code())
	require.Empty(t, (<-block).code())
	require.Equal(t, "funded", s.read(s.customer, card.ID).Order.State)
}

// A repeat of a running request waits for its result, even if it would now be refused.
func TestRepeatWaitsForFirst(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	terms := s.terms(true)
	create := func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }
	// The first waits at the index of operations, for a row that is rolled back.
	other := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	graphtest.OK(t)(other.Exec(`INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
		VALUES (gen_random_uuid(), now(), $1, $2, '', '')`, s.customer.ID, *terms.OperationID))
	first := async(create)
	s.AwaitLocks(1)
	s.Exec("UPDATE settings SET fee_bps = 1")
	second := async(create)
	s.AwaitLocks(2)
	require.NoError(t, other.Rollback())
	made, again := <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())

	act := command(made.result.Order, orders.Accept)
	commit := s.Hold("SELECT FROM accounts WHERE bot_id = $1 FOR UPDATE", s.customer.ID)
	first = async(s.actRequest(s.contractor, act))
	s.AwaitLocks(1)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.customer.ID)
	second = async(s.actRequest(s.contractor, act))
	s.AwaitLocks(2)
	commit()
	made, again = <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())
}

// A request that waited for an order sees the changes of the earlier request, not the state when the wait began.
func TestSecondReadsWhatFirstCommitted(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.act(s.contractor, s.offer(true), orders.Accept)
	commit := s.Hold("UPDATE orders SET state = 'in_progress', version = 3 WHERE id = $1", card.ID)
	stale := async(s.actRequest(s.contractor, command(card, orders.Start)))
	s.AwaitLocks(1)
	next := *card
	next.Version = 3
	fresh := async(s.actRequest(s.contractor, command(&next, orders.Deliver)))
	s.AwaitLocks(2)
	commit()
	require.Equal(t, fault.VersionConflict, (<-stale).code())
	delivered := <-fresh
	require.NoError(t, delivered.err)
	require.Equal(t, graphtest.Ptr("Shall I compare thee …"), delivered.result.Order.ResultText)
}
