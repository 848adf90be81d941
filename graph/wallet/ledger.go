package wallet

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// Kind is the reason of a transaction.
type Kind string

// The kinds of transactions.
const (
	Grant   Kind = "grant"
	Reward  Kind = "reward"
	TopUp   Kind = "top_up"
	Reserve Kind = "reserve"
	Payment Kind = "payment"
	Refund  Kind = "refund"
)

// AccountKind is the side of the ledger that an entry touches.
type AccountKind string

// The sides of the ledger. The first two belong to an agent, the others to the platform.
const (
	Available AccountKind = "available"
	Reserved  AccountKind = "reserved"
	Issuance  AccountKind = "issuance"
	Fees      AccountKind = "fees"
)

// GrantMinor is the starting grant: 5000 credits in minor units (§2.5).
const GrantMinor int64 = 500_000

// Transaction is one double-entry transaction: its postings sum to zero and each names an account.
type Transaction struct {
	// ID is set by Argument.
	ID   uuid.UUID `json:"id"`
	Kind Kind      `json:"kind"`
	// OperationID is the client's idempotency id, if there is one.
	OperationID *uuid.UUID `json:"operation_id"`
	OrderID     *uuid.UUID `json:"order_id"`
	Postings    []Posting  `json:"postings"`
}

// Posting moves DeltaMinor minor units into an account, or out of it when negative.
type Posting struct {
	// ID is the id of the ledger entry; Argument sets it.
	ID uuid.UUID `json:"id"`
	// BotID is the owner of an available or reserved account, and zero on the platform's sides.
	BotID      uuid.UUID   `json:"bot_id,omitzero"`
	Account    AccountKind `json:"account_kind"`
	DeltaMinor int64       `json:"delta_minor"`
}

// Escrow is the money of one order: the full price moves from the customer's available to its reserved balance when the order is
// accepted, and leaves it once, as payment or as refund, never in part (§3.1).
type Escrow struct {
	OrderID uuid.UUID
	// OperationID is the client's idempotency id of the operation that moves the money.
	OperationID  uuid.UUID
	CustomerID   uuid.UUID
	ContractorID uuid.UUID
	// AmountMinor is the contractor's reward in minor units, at least 1.
	AmountMinor int64
	// FeeMinor is the platform's share on top of it, at least 0.
	FeeMinor int64
}

// Total is the full price in minor units, fee included.
func (e Escrow) Total() int64 { return e.AmountMinor + e.FeeMinor }

// Hold reserves the full price from the customer's available balance. If that is too low, the posting is refused with
// insufficient_funds; nothing is reserved in part.
func Hold(e Escrow) Transaction {
	return e.transaction(Reserve,
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: e.Total()})
}

// Release pays the contractor and the platform from the reserve.
func Release(e Escrow) Transaction {
	postings := []Posting{
		{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},
		{BotID: e.ContractorID, Account: Available, DeltaMinor: e.AmountMinor},
	}
	if e.FeeMinor > 0 {
		postings = append(postings, Posting{Account: Fees, DeltaMinor: e.FeeMinor})
	}
	return e.transaction(Payment, postings...)
}

// Return returns the full reserve to the customer, fee included.
func Return(e Escrow) Transaction {
	return e.transaction(Refund,
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: e.Total()})
}

func (e Escrow) transaction(kind Kind, postings ...Posting) Transaction {
	return Transaction{Kind: kind, OperationID: &e.OperationID, OrderID: &e.OrderID, Postings: postings}
}

// Issue credits an agent from issuance: a grant, a reward or an operator's top-up of at least 1 minor unit. It returns
// ledger_conflict for a smaller amount, or if the balance would exceed a 64-bit integer.
func Issue(ctx context.Context, tx *db.Tx, kind Kind, botID uuid.UUID, amountMinor int64, operationID *uuid.UUID) error {
	if amountMinor < 1 {
		return fault.New(fault.LedgerConflict)
	}
	return Post(ctx, tx, Transaction{Kind: kind, OperationID: operationID, Postings: []Posting{
		{Account: Issuance, DeltaMinor: -amountMinor},
		{BotID: botID, Account: Available, DeltaMinor: amountMinor},
	}})
}

// Opening returns the arguments of stoa_open_wallet after the agent, for the statement that registers it: the function makes the
// agent's wallet with the starting grant, from issuance (§2.5). The database refuses a second wallet and a second grant of one
// agent, which Refusal makes ledger_conflict.
func Opening() []any {
	ids := make(pq.StringArray, 4) // of the wallet, the transaction and its two entries
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7()).String()
	}
	return []any{ids, GrantMinor}
}

// Post writes a transaction inside tx: all of it or nothing. It returns insufficient_funds when an available balance would become
// negative, and ledger_conflict when the ledger's other rules refuse the posting.
func Post(ctx context.Context, tx *db.Tx, t Transaction) error {
	posted, err := t.Argument()
	if err != nil {
		return err
	}
	err = db.Exec(ctx, tx.SQL, named("post_transaction"), posted)
	if refusal := Refusal(err); refusal != nil {
		return refusal
	}
	return err
}

// Argument returns the transaction as JSON with new ids, for statements that pass it to stoa_post. It returns nil, which moves no
// money, if there are no postings.
func (t Transaction) Argument() (any, error) {
	if len(t.Postings) == 0 {
		return nil, nil
	}
	t.ID, t.Postings = uuid.Must(uuid.NewV7()), slices.Clone(t.Postings)
	for i := range t.Postings {
		t.Postings[i].ID = uuid.Must(uuid.NewV7())
	}
	raw, err := wire.Marshal(t)
	return string(raw), err
}

// writers are the functions in the database that write money.
var writers = []string{"stoa_post", "stoa_open_wallet"}

// The SQLSTATEs with which the database refuses a posting.
const (
	integrityViolation = "23"
	outOfRange         = "22003"
)

// Refusal returns the fault if err is a refusal by one of the writers, whatever statement called it, and nil for every other
// error.
func Refusal(err error) error {
	refused := new(pq.Error)
	if !errors.As(err, &refused) {
		return nil
	}
	if !slices.ContainsFunc(writers, func(w string) bool { return strings.Contains(refused.Where, w) }) {
		return nil
	}
	switch {
	case refused.Constraint == "accounts_available_not_negative":
		return fault.New(fault.InsufficientFunds)
	case refused.Code.Class() == integrityViolation, refused.Code == outOfRange:
		return fault.Wrap(fault.LedgerConflict, err)
	default:
		return nil
	}
}
