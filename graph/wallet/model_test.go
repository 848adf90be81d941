package wallet_test

import (
	"context"
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// book is the plain model: each agent's balances, and the number of entries that it can see.
type book struct {
	balance map[uuid.UUID]map[wallet.AccountKind]int64
	entries map[uuid.UUID]int64
}

// apply returns the faults that a transaction may get, none if it must be posted, and then applies it.
func (b *book) apply(t wallet.Transaction) []fault.Code {
	sum := int64(0)
	after := make(map[uuid.UUID]map[wallet.AccountKind]int64)
	for _, p := range t.Postings {
		sum += p.DeltaMinor
		if p.BotID == uuid.Nil {
			continue
		}
		if after[p.BotID] == nil {
			after[p.BotID] = map[wallet.AccountKind]int64{
				wallet.Available: b.balance[p.BotID][wallet.Available], wallet.Reserved: b.balance[p.BotID][wallet.Reserved]}
		}
		after[p.BotID][p.Account] += p.DeltaMinor
	}
	var refusals []fault.Code
	for _, sides := range after {
		switch {
		case sides[wallet.Available] < 0:
			refusals = append(refusals, fault.InsufficientFunds)
		case sides[wallet.Reserved] < 0:
			refusals = append(refusals, fault.LedgerConflict)
		}
	}
	if len(refusals) == 0 && sum != 0 { // balances are checked first
		refusals = append(refusals, fault.LedgerConflict)
	}
	if len(refusals) > 0 {
		return refusals
	}
	maps.Copy(b.balance, after)
	for _, p := range t.Postings {
		if p.BotID != uuid.Nil {
			b.entries[p.BotID]++
		}
	}
	return nil
}

// transaction draws up to five postings over three agents and the platform; most sum to zero.
func transaction(t *rapid.T, agents []*graphtest.Agent) wallet.Transaction {
	made := wallet.Transaction{Kind: rapid.SampledFrom([]wallet.Kind{wallet.TopUp, wallet.Reserve, wallet.Payment, wallet.Refund}).Draw(t, "kind")}
	amount := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, 600_000))
	side := rapid.SampledFrom([]wallet.AccountKind{wallet.Available, wallet.Reserved})
	rest := int64(0)
	for range rapid.IntRange(1, 4).Draw(t, "postings") {
		p := wallet.Posting{BotID: rapid.SampledFrom(agents).Draw(t, "agent").ID, Account: side.Draw(t, "side"), DeltaMinor: amount.Draw(t, "amount")}
		if rapid.Bool().Draw(t, "out") {
			p.DeltaMinor = -p.DeltaMinor
		}
		rest -= p.DeltaMinor
		made.Postings = append(made.Postings, p)
	}
	if rest != 0 && rapid.IntRange(0, 9).Draw(t, "balanced") > 0 {
		made.Postings = append(made.Postings, wallet.Posting{
			Account: rapid.SampledFrom([]wallet.AccountKind{wallet.Issuance, wallet.Fees}).Draw(t, "platform"), DeltaMinor: rest})
	}
	return made
}

// For any postings, a transaction is accepted exactly if the model accepts it, balances equal the model's and are never negative,
// entries are numbered from 1 without a gap, and the ledger reconciles.
func TestLedgerFollowsModel(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
		model := &book{balance: make(map[uuid.UUID]map[wallet.AccountKind]int64), entries: make(map[uuid.UUID]int64)}
		for _, a := range agents {
			model.balance[a.ID] = map[wallet.AccountKind]int64{wallet.Available: wallet.GrantMinor}
			model.entries[a.ID] = 1
		}
		for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			next := transaction(rt, agents)
			want := model.apply(next)
			err := post(w, next)
			if want == nil {
				require.NoError(rt, err)
				continue
			}
			require.Error(rt, err)
			require.Contains(rt, want, fault.From(err).Code, "%v", err)
		}
		for _, a := range agents {
			require.Equal(rt, [2]int64{model.balance[a.ID][wallet.Available], model.balance[a.ID][wallet.Reserved]}, balances(t, w, a))
			all := history(t, w, a)
			require.Len(rt, all, int(model.entries[a.ID]))
			sums := map[string]int64{}
			for i, e := range all {
				require.EqualValues(rt, i+1, e.ID)
				sums[e.AccountKind] += e.DeltaMinor
			}
			require.Equal(rt, model.balance[a.ID][wallet.Available], sums["available"])
			require.Equal(rt, model.balance[a.ID][wallet.Reserved], sums["reserved"])
		}
	})
	found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t)
	for _, d := range found { // there are no orders beside these reserves
		require.Equal(t, wallet.OrderReserve, d.Check)
	}
}
