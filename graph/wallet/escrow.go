package wallet

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/db"
)

// Escrow is the money of one order: the full price leaves the customer's available balance when the order is accepted, waits
// in the reserved one, and leaves it once, as payment or as refund. There is no part of it (§3.1).
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

// Hold reserves the full price out of what the customer has available. It returns insufficient_funds where that does not
// suffice; nothing is reserved in part.
func Hold(ctx context.Context, tx *db.Tx, e Escrow) error {
	return e.post(ctx, tx, Reserve,
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: e.Total()})
}

// Release pays the contractor and the platform out of the reserve.
func Release(ctx context.Context, tx *db.Tx, e Escrow) error {
	postings := []Posting{
		{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},
		{BotID: e.ContractorID, Account: Available, DeltaMinor: e.AmountMinor},
	}
	if e.FeeMinor > 0 {
		postings = append(postings, Posting{Account: Fees, DeltaMinor: e.FeeMinor})
	}
	return e.post(ctx, tx, Payment, postings...)
}

// Return gives the customer the full reserve back, fee included.
func Return(ctx context.Context, tx *db.Tx, e Escrow) error {
	return e.post(ctx, tx, Refund,
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: e.Total()})
}

func (e Escrow) post(ctx context.Context, tx *db.Tx, kind Kind, postings ...Posting) error {
	return Post(ctx, tx, Transaction{Kind: kind, OperationID: &e.OperationID, OrderID: &e.OrderID, Postings: postings})
}
