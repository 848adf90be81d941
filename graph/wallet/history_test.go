package wallet_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/wallet"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// busy makes an agent with the grant and 30 reserves: 61 entries.
func busy(t *testing.T, w *graphtest.World) *graphtest.Agent {
	t.Helper()
	a, other := w.Agent(), w.Agent()
	for range 30 {
		require.NoError(t, move(w, wallet.Hold, escrow(a, other, 10, 1)))
	}
	return a
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := busy(t, w)
	for name, c := range map[string]struct {
		before, limit page.Param
		first, count  int64
		next          *int64
	}{
		"the newest fifty":          {nil, nil, 61, 50, graphtest.Ptr[int64](12)},
		"the rest":                  {page.Param{"12"}, nil, 11, 11, nil},
		"all at once":               {nil, page.Param{"100"}, 61, 61, nil},
		"exactly all":               {nil, page.Param{"61"}, 61, 61, nil},
		"one":                       {page.Param{"3"}, page.Param{"1"}, 2, 1, graphtest.Ptr[int64](2)},
		"before the first":          {page.Param{"1"}, nil, 0, 0, nil},
		"beyond the newest":         {page.Param{"1000"}, page.Param{"1"}, 61, 1, graphtest.Ptr[int64](61)},
		"as far as numbers reach":   {page.Param{itoa(math.MaxInt64)}, page.Param{"1"}, 61, 1, graphtest.Ptr[int64](61)},
		"the last one by its bound": {page.Param{"2"}, page.Param{"1"}, 1, 1, nil},
	} {
		part, err := w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Before: c.before, Limit: c.limit})
		require.NoError(t, err, name)
		require.Len(t, part.Entries, int(c.count), name)
		require.Equal(t, c.next, part.NextBefore, name)
		for i, e := range part.Entries {
			require.Equal(t, c.first-int64(i), e.ID, name)
		}
	}
}

func TestHistoryRefusesBadBounds(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	for _, bad := range []page.Param{{""}, {"0"}, {"-1"}, {"01"}, {"1.0"}, {"x"}, {"9223372036854775808"}, {"1", "1"}} {
		_, err := w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Before: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "before")
	}
	for _, bad := range []page.Param{{""}, {"0"}, {"101"}, {"5", "5"}} {
		_, err := w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Limit: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "limit")
	}
}

func TestWalletIsTheAgentsOwn(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	own := graphtest.Got(w.Wallet.MyWallet(w.Agent().Ctx))(t)
	require.Equal(t, &wallet.Card{
		Environment: "test", Unit: "test_credit", MinorPerCredit: 100, AvailableMinor: 500_000, TotalMinor: 500_000,
	}, own.Wallet)
	graphtest.Refused(t, fault.Unauthorized)(w.Wallet.MyWallet(context.Background()))
	graphtest.Refused(t, fault.Unauthorized)(w.Wallet.WalletHistory(context.Background(), wallet.HistoryInput{}))
}
