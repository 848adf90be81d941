package wallet_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

const openWallet = "SELECT stoa_open_wallet($1, $2, $3)"

// A new wallet equals an empty one to which the grant was posted.
func TestAWalletBeginsWithItsGrant(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	require.Equal(t, [2]int64{wallet.GrantMinor, 0}, balances(t, w, a))
	all := history(t, w, a)
	require.Len(t, all, 1)
	granted := *all[0]
	require.Equal(t, wallet.Entry{
		ID: 1, TransactionID: granted.TransactionID, Kind: string(wallet.Grant), AccountKind: string(wallet.Available),
		DeltaMinor: wallet.GrantMinor, CreatedAt: granted.CreatedAt,
	}, granted)
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM ledger_entries WHERE transaction_id = $1 AND kind = 'grant' AND account_kind = 'issuance'
		AND bot_id IS NULL AND number IS NULL AND delta_minor = $2 AND operation_id IS NULL AND order_id IS NULL AND created_at = $3`,
		granted.TransactionID, -wallet.GrantMinor, granted.CreatedAt))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM ledger_entries"))
	reconciled(t, w)
}

func TestAWalletIsOpenedOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	for name, c := range map[string]struct {
		owner  uuid.UUID
		amount int64
	}{
		"a second wallet":    {a.ID, wallet.GrantMinor},
		"nobody's wallet":    {uuid.New(), wallet.GrantMinor},
		"a grant of nothing": {uuid.New(), 0},
	} {
		_, err := w.DB.SQL.ExecContext(context.Background(), openWallet, c.owner, wallet.Opening()[0], c.amount)
		require.Equal(t, fault.LedgerConflict, fault.From(wallet.Refusal(err)).Code, name)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM accounts"))
	reconciled(t, w)
}
