package wallet

import "github.com/google/uuid"

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

// Hold reserves the full price out of what the customer has available. Where that does not suffice the posting is refused with
// insufficient_funds; nothing is reserved in part.
func Hold(e Escrow) Transaction {
	return e.transaction(Reserve,
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: e.Total()})
}

// Release pays the contractor and the platform out of the reserve.
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

// Return gives the customer the full reserve back, fee included.
func Return(e Escrow) Transaction {
	return e.transaction(Refund,
		Posting{BotID: e.CustomerID, Account: Reserved, DeltaMinor: -e.Total()},
		Posting{BotID: e.CustomerID, Account: Available, DeltaMinor: e.Total()})
}

func (e Escrow) transaction(kind Kind, postings ...Posting) Transaction {
	return Transaction{Kind: kind, OperationID: &e.OperationID, OrderID: &e.OrderID, Postings: postings}
}
