package receipts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/receipts"
)

// ask is GET /orders/{id}/receipt.
func (w *world) ask(by *graphtest.Agent, order uuid.UUID) (*receipts.Result, error) {
	return w.Receipts.OrderReceipt(by.Ctx, receipts.ReceiptInput{OrderID: order.String()})
}

// The event of a receipt comes when the receipt has its proof, once; before that a participant reads when to ask again, and
// anyone else reads nothing.
func TestReceiptIsAnnouncedWithItsProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, open := w.closed(), w.opened()
	pending := func() {
		t.Helper()
		require.Zero(t, w.announced())
		refused := graphtest.RequireFault(t, graphtest.Err(w.ask(w.customer, order)), fault.NotFound)
		require.Equal(t, 5*time.Second, refused.Retry())
		require.Contains(t, refused.Text(), "being signed")
		require.Zero(t, graphtest.RequireFault(t, graphtest.Err(w.ask(w.Agent(), order)), fault.NotFound).Retry())
		require.Zero(t, graphtest.RequireFault(t, graphtest.Err(w.ask(w.customer, open)), fault.NotFound).Retry())
	}
	pending()
	w.sign()
	pending()
	w.sequence()
	for _, by := range []*graphtest.Agent{w.customer, w.contractor} {
		require.NotNil(t, graphtest.Got(w.ask(by, order))(t).Receipt.Proof)
	}
	require.EqualValues(t, 2, w.announced())
	require.EqualValues(t, 2, w.announced(), "once")
}

// A receipt that was announced can be read while the log has lost entries, without a proof, as in the list.
func TestAnAnnouncedReceiptStaysReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.closed()
	w.sign()
	w.sequence()
	before := graphtest.Got(w.ask(w.customer, order))(t).Receipt
	w.Exec("UPDATE log_head SET size = size - 1")
	found := graphtest.Got(w.ask(w.customer, order))(t).Receipt
	require.Nil(t, found.Proof)
	require.Equal(t, w.receipt(order), found)
	before.Proof = nil
	require.Equal(t, before, found)
}

// A page of receipts begins after a receipt, and not after the document of a rating.
func TestReceiptsArePagedByReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	older := w.closed()
	w.Shift(time.Second)
	order := w.closed()
	rating := w.rate(w.customer, order)
	w.sign()
	list := func(before string) (*receipts.List, error) {
		return w.Receipts.MyReceipts(w.customer.Ctx, receipts.ListInput{Before: []string{before}})
	}
	found := graphtest.Got(list(w.receipt(order).ID.String()))(t).Receipts
	require.Len(t, found, 1)
	require.Equal(t, older, found[0].OrderID)
	id := w.receipt(order).ID
	require.Equal(t, []int{7, int(uuid.RFC4122)}, []int{int(id.Version()), int(id.Variant())})
	seconds, _ := id.Time().UnixTime()
	require.WithinDuration(t, w.Now(), time.Unix(seconds, 0), time.Minute)
	graphtest.Refused(t, fault.NotFound)(list(rating.String()))
}
