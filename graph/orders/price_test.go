package orders_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	for _, c := range []struct{ bps, amount, fee int64 }{
		{1000, 1, 0}, {1000, 4, 0}, {1000, 5, 1}, {1000, 14, 1}, {1000, 15, 2}, {1000, 1000, 100},
		{1000, 909_090_909_091, 90_909_090_909}, {0, 1_000_000_000_000, 0}, {10_000, 500_000_000_000, 500_000_000_000}, {1, 4999, 0}, {1, 5000, 1},
	} {
		s.Exec("UPDATE settings SET fee_bps = $1", c.bps)
		q := graphtest.Got(s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{AmountMinor: &c.amount}))(t)
		require.Equal(t, &orders.Quote{AmountMinor: c.amount, FeeMinor: c.fee, TotalMinor: c.amount + c.fee, FeeBps: c.bps}, q.Quote)
	}
	for _, c := range []struct{ bps, amount int64 }{
		{1000, 0}, {1000, -1}, {1000, math.MinInt64}, {1000, 909_090_909_092}, {1000, math.MaxInt64}, {0, 1_000_000_000_001}, {10_000, 500_000_000_001},
	} {
		s.Exec("UPDATE settings SET fee_bps = $1", c.bps)
		_, err := s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{AmountMinor: &c.amount})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "amount_minor")
	}
	graphtest.Refused(t, fault.InvalidInput)(s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{}))
	_, err := s.Orders.QuoteOrder(t.Context(), orders.QuoteInput{AmountMinor: graphtest.Ptr[int64](1)})
	graphtest.RequireFault(t, err, fault.Unauthorized)
}

// The price is the same as in unbounded integers, rounded half up; it is refused exactly if its total exceeds the largest.
func TestPriceIsExact(t *testing.T) {
	t.Parallel()
	largest := big.NewInt(1_000_000_000_000)
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(1, 1<<20), rapid.Int64Range(1, 1<<41), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "amount")
		bps := rapid.Int64Range(0, 10_000).Draw(t, "bps")
		fee := new(big.Int).Mul(big.NewInt(amount), big.NewInt(bps))
		fee.Div(fee.Add(fee, big.NewInt(5000)), big.NewInt(10_000))
		sum := new(big.Int).Add(fee, big.NewInt(amount))
		q, err := orders.Price(amount, bps)
		if sum.Cmp(largest) > 0 {
			require.Equal(t, fault.InvalidInput, fault.From(err).Code)
			return
		}
		require.NoError(t, err)
		require.Equal(t, sum.Int64(), q.TotalMinor)
		require.Equal(t, fee.Int64(), q.FeeMinor)
		require.Equal(t, amount, q.AmountMinor)
	})
}
