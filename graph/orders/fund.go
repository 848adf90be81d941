package orders

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

// selected is the name, in the history, of the first step of an order that comes from a task.
const selected = "select"

// Purchase is a request for an order that begins funded.
type Purchase struct {
	// OperationID makes the request idempotent; offers and actions use the same space of ids.
	OperationID uuid.UUID
	TaskID      uuid.UUID
	// Body is the sent input with ids in canonical form and omitzero members; another body under the same id is another request.
	Body any
}

// Deal holds the participants, the terms and the price of a purchase. The customer has confirmed the price.
type Deal struct {
	Customer, Contractor bots.BriefRow
	Title, Description   string
	Deadline             time.Time
	Price                Quote
	// At is the database clock.
	At time.Time
}

// FundOrder makes an order that is funded from the start, at version 1, without an offer (§4.9). Only an agent may call it; it
// becomes author and customer. agree runs inside the transaction if no answer is stored under the operation: it locks and checks
// the conditions of the deal, and writes its other effects. It takes its locks before the wallets are locked. Faults in this
// order: unauthorized, idempotency_conflict, the faults of agree, insufficient_funds, ledger_conflict.
func (a *API) FundOrder(
	ctx context.Context, p Purchase, agree func(ctx context.Context, tx *db.Tx, orderID uuid.UUID) (*Deal, error),
) (*OrderResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	op, err := once.NewRequest(v.BotID, p.OperationID, selected, p.TaskID, p.Body)
	if err != nil {
		return nil, err
	}
	id := newID()
	return once.Do(ctx, a.DB, named("lock_operation"), []any{op.Agent, op.ID}, func(ctx context.Context, tx *db.Tx) (*OrderResult, error) {
		if made, err := stored(ctx, tx.SQL, op); made != nil || err != nil {
			return made, err
		}
		d, err := agree(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		first := step{action: selected, by: op.Agent, at: d.At}
		return a.commit(ctx, tx, named("open_order"), false, d.snapshot(id, p.TaskID), first, op, hold)
	})
}

// snapshot returns the order that a deal makes.
func (d *Deal) snapshot(id, taskID uuid.UUID) *snapshot {
	return &snapshot{Customer: d.Customer, Contractor: d.Contractor, Now: d.At, row: row{
		ID: id, CreatedAt: d.At, UpdatedAt: d.At, State: order.StateFunded, Version: 1, FundedAt: &d.At, TaskID: &taskID,
		CustomerID: d.Customer.ID, ContractorID: d.Contractor.ID, AuthorID: d.Customer.ID,
		Title: d.Title, Description: d.Description, Deadline: d.Deadline,
		AmountMinor: d.Price.AmountMinor, FeeMinor: d.Price.FeeMinor, TotalMinor: d.Price.TotalMinor, FeeBps: d.Price.FeeBps,
		ConfirmedTotalMinor: &d.Price.TotalMinor,
	}}
}

// stored returns the stored answer of a request, or nil if the request was not answered before.
func stored(ctx context.Context, q db.Querier, op once.Request) (*OrderResult, error) {
	kept, err := db.One[once.Stored](ctx, q, named("find_operation"), op.Agent, op.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return once.Repeated[OrderResult](op, *kept)
}
