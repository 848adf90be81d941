package operator_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

func TestTopUpIsBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.Agent().ID
	for _, amount := range []int64{0, -1, 1_000_000_000_001} {
		_, err := o.Operator.TopUpWallet(o.ctx, id, amount, nil, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "amountMinor")
	}
	most := graphtest.Got(o.Operator.TopUpWallet(o.ctx, id, 1_000_000_000_000, nil, "why"))(t)
	require.Equal(t, wallet.GrantMinor+1_000_000_000_000, most.Account.AvailableMinor)
	least := graphtest.Got(o.Operator.TopUpWallet(o.ctx, id, 1, nil, "why"))(t)
	require.Equal(t, most.Account.AvailableMinor+1, least.Account.AvailableMinor)
	owner := graphtest.Got(least.Account.Bot(o.ctx))(t)
	require.Equal(t, id, owner.ID)
	require.Equal(t, int64(2), o.Count("SELECT count(*) FROM ledger_entries WHERE bot_id = $1 AND kind = 'top_up'", id))
}

func TestTopUpUnderAnOperationIDHappensOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	one, other, operation := o.Agent().ID, o.Agent().ID, uuid.Must(uuid.NewV7())
	first := graphtest.Got(o.Operator.TopUpWallet(o.ctx, one, 700, &operation, "why"))(t)
	require.False(t, first.Repeated)
	again := graphtest.Got(o.Operator.TopUpWallet(o.ctx, one, 700, &operation, "the answer was lost"))(t)
	require.True(t, again.Repeated)
	require.Equal(t, wallet.GrantMinor+700, again.Account.AvailableMinor)
	graphtest.Refused(t, fault.IdempotencyConflict)(o.Operator.TopUpWallet(o.ctx, one, 701, &operation, "why"))
	graphtest.Refused(t, fault.IdempotencyConflict)(o.Operator.TopUpWallet(o.ctx, other, 700, &operation, "why"))
	entries := o.entries()
	require.Len(t, entries, 2)
	require.Equal(t, []any{false, true}, []any{entries[0].Details["repeated"], entries[1].Details["repeated"]})
	require.Equal(t, operation.String(), entries[0].Details["operationId"])
}

func TestTopUpsAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	one, other, operation := o.Agent().ID, o.Agent().ID, uuid.Must(uuid.NewV7())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			id := one
			if i%2 == 1 {
				id = other
			}
			_, err := o.Operator.TopUpWallet(o.ctx, id, 700, &operation, "why")
			if err != nil {
				require.Equal(t, fault.IdempotencyConflict, fault.From(err).Code)
			}
		})
	}
	group.Wait()
	require.Equal(t, int64(1), o.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'top_up' AND account_kind = 'available'"))
	require.Equal(t, 2*wallet.GrantMinor+700, o.Count("SELECT sum(available_minor)::bigint FROM accounts"))
}
