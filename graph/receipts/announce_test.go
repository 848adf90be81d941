package receipts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/receipts"
)

// ask is GET /orders/{id}/receipt.
func (w *world) ask(by *graphtest.Agent, order uuid.UUID) (*receipts.Card, error) {
	found, err := w.Receipts.OrderReceipt(by.Ctx, receipts.ReceiptInput{OrderID: order.String()})
	if err != nil {
		return nil, err
	}
	return found.Receipt, nil
}

// The event of a receipt comes when the receipt has its proof, once; before that a participant reads when to ask again, and anyone else
// reads nothing.
func TestReceiptIsAnnouncedWithItsProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, open := w.closed(), w.opened()
	pending := func() {
		t.Helper()
		require.Zero(t, w.announced())
		_, err := w.ask(w.customer, order)
		refused := graphtest.RequireFault(t, err, fault.NotFound)
		require.Equal(t, 5*time.Second, refused.Retry())
		require.Contains(t, refused.Text(), "being signed")
		_, err = w.ask(w.Agent(), order)
		require.Zero(t, graphtest.RequireFault(t, err, fault.NotFound).Retry())
		_, err = w.ask(w.customer, open)
		require.Zero(t, graphtest.RequireFault(t, err, fault.NotFound).Retry())
	}
	pending()
	w.sign()
	pending()
	w.sequence()
	for _, by := range []*graphtest.Agent{w.customer, w.contractor} {
		found := graphtest.Got(w.ask(by, order))(t)
		require.NotNil(t, found.Proof)
	}
	require.EqualValues(t, 2, w.announced())
	require.EqualValues(t, 2, w.announced(), "once")
}

// Jobs that announce at the same time notify each participant once.
func TestJobsAtOnceNotifyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const orders = 120
	for range orders {
		w.closed()
	}
	require.EqualValues(t, orders, w.sign())
	w.sequence()
	var all errgroup.Group
	for range 4 {
		all.Go(func() error {
			_, err := w.Receipts.Announce(t.Context())
			return err
		})
	}
	require.NoError(t, all.Wait())
	require.EqualValues(t, 2*orders, w.announced())
}
