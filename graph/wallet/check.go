package wallet

import (
	"slices"

	"github.com/google/uuid"
)

// Check names one of the ledger's invariants.
type Check string

// The invariants that reconciliation checks.
const (
	// LedgerBalance: all entries sum to zero.
	LedgerBalance Check = "ledger_balance"
	// TransactionBalance: the entries of each transaction sum to zero.
	TransactionBalance Check = "transaction_balance"
	// AvailableBalance and ReservedBalance: a balance is the sum of its entries.
	AvailableBalance Check = "available_balance"
	ReservedBalance  Check = "reserved_balance"
	// EntryCount: a wallet counts its entries.
	EntryCount Check = "entry_count"
	// EntryNumbers: an agent's entries are numbered from 1 without a gap.
	EntryNumbers Check = "entry_numbers"
	// OrderReserve: a reserved balance is the total of the customer's orders that hold money.
	OrderReserve Check = "order_reserve"
	// LedgerTriggers: the triggers that refuse changed entries and unbalanced transactions are enabled.
	LedgerTriggers Check = "ledger_triggers"
)

// Checks lists the invariants in the order in which discrepancies are reported.
func Checks() []Check {
	return []Check{
		LedgerBalance, TransactionBalance, AvailableBalance, ReservedBalance,
		EntryCount, EntryNumbers, OrderReserve, LedgerTriggers,
	}
}

// Discrepancy is one place where an invariant does not hold.
type Discrepancy struct {
	Check Check `db:"invariant"`
	// BotID or TransactionID names the place; neither is set for the ledger as a whole.
	BotID         *uuid.UUID `db:"bot_id"`
	TransactionID *uuid.UUID `db:"transaction_id"`
	// Expected and Found are minor units, or numbers of entries or triggers.
	Expected int64 `db:"expected"`
	Found    int64 `db:"found"`
}

// discrepanciesPerCheck bounds the report of one check: the first ones show the problem, and millions would not show more.
const discrepanciesPerCheck = 100

// findings are the discrepancies that a check has found so far. They are kept as JSON between slices (ledger_checks.found).
type findings struct {
	// Counted are the discrepancies of each check, at most 100.
	Counted map[Check]int `json:"counted"`
	// Imbalance is the sum of all checked entries.
	Imbalance int64 `json:"imbalance"`

	all []Discrepancy
}

func newFindings() *findings { return &findings{Counted: make(map[Check]int)} }

// add adds the discrepancies of a slice. A slice's imbalance of the ledger is only a part of the total.
func (f *findings) add(found []*Discrepancy) {
	for _, d := range found {
		switch {
		case d.Check == LedgerBalance:
			f.Imbalance += d.Found
		case f.Counted[d.Check] < discrepanciesPerCheck:
			f.Counted[d.Check]++
			f.all = append(f.all, *d)
		}
	}
}

// finish adds the discrepancies that are known only at the end.
func (f *findings) finish(triggers []*Discrepancy) {
	f.add(triggers)
	if f.Imbalance != 0 {
		f.Counted[LedgerBalance] = 1
		f.all = append(f.all, Discrepancy{Check: LedgerBalance, Found: f.Imbalance})
	}
}

// take returns the discrepancies that were added since its last call, in the order of their checks.
func (f *findings) take() []Discrepancy {
	all, checks := f.all, Checks()
	f.all = nil
	slices.SortStableFunc(all, func(a, b Discrepancy) int {
		return slices.Index(checks, a.Check) - slices.Index(checks, b.Check)
	})
	return all
}
