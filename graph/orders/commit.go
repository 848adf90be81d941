package orders

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
)

// OrderResult is an order after an operation, as REST wraps it. A repeat holds the order as it was after the first request.
type OrderResult struct {
	once.Answer
	Order *Card `json:"order"`
}

// commit writes all effects of a step by one statement, open_order or step_order: the order, its history, the stored answer, the
// events of both participants, which hold no terms, sums or files, and the money. obliges makes the statement check the
// conditions of a new obligation, because the agents' states, the time and the fee rate are not locked. Faults:
// insufficient_funds, ledger_conflict; once.ErrStale if the snapshot no longer holds, or if a concurrent request took the
// operation id.
func (a *API) commit(
	ctx context.Context, tx *db.Tx, statement *db.Statement, obliges bool, s *snapshot, done step, op once.Request, money posting,
) (*OrderResult, error) {
	if err := loadFiles(ctx, tx.SQL, done.by, s); err != nil {
		return nil, err
	}
	made := &OrderResult{Order: newCard(s, done.by)}
	var err error
	if made.Answer, err = once.NewAnswer("order", made.Order); err != nil {
		return nil, err
	}
	args, err := s.commitArgs(statement == named("open_order"), obliges, done, op, string(made.JSON()), money)
	if err != nil {
		return nil, err
	}
	written := 0
	err = db.Each(ctx, tx.SQL, func(*sql.Rows) error { written++; return nil }, statement, args...)
	if refusal := wallet.Refusal(err); refusal != nil {
		return nil, refusal
	}
	if err == nil && written == 0 {
		return nil, once.ErrStale
	}
	if err != nil {
		return nil, once.IfTaken(err)
	}
	tx.AfterCommit(func() { a.Events.Wake([]uuid.UUID{s.CustomerID, s.ContractorID}) })
	return made, nil
}

// commitArgs returns the arguments of open_order and step_order.
func (s *snapshot) commitArgs(opens, obliges bool, done step, op once.Request, answer string, money posting) ([]any, error) {
	after, err := s.written(opens)
	if err != nil {
		return nil, err
	}
	note, err := wire.Marshal(map[string]any{
		"action": done.action, "participant_id": done.by, "reason": done.reason, "operation_id": op.ID,
		"ids": []uuid.UUID{newID(), newID(), eventid.New(s.CustomerID), eventid.New(s.ContractorID)},
	})
	if err != nil {
		return nil, err
	}
	announcement, err := wire.Marshal(events.OrderPayload{
		OrderID: s.ID, Status: s.State, Version: s.Version, Action: done.action, ActorID: done.by,
	})
	if err != nil {
		return nil, err
	}
	var transaction wallet.Transaction
	if money.transaction != nil {
		transaction = money.transaction(wallet.Escrow{
			OrderID: s.ID, OperationID: op.ID, CustomerID: s.CustomerID, ContractorID: s.ContractorID,
			AmountMinor: s.AmountMinor, FeeMinor: s.FeeMinor,
		})
	}
	posted, err := transaction.Argument()
	return []any{obliges, string(after), string(note), op.Hash, answer, string(announcement), posted}, err
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// selected is the name, in the history, of the first step of an order that comes from a task.
const selected = "select"

// Purchase is a request for an order that begins funded.
type Purchase struct {
	// OperationID makes the request idempotent; offers and actions use the same space of ids.
	OperationID uuid.UUID
	TaskID      uuid.UUID
	// Body is the sent input with omitzero members; a different body under the same id is a different request.
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
// the conditions of the deal, and writes its other effects. agree takes its locks before the wallets are locked. Faults in this
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
	return &snapshot{Customer: d.Customer, Contractor: d.Contractor, Now: d.At, row: row{Card: Card{
		ID: id, CreatedAt: d.At, UpdatedAt: d.At, State: string(order.StateFunded), Version: 1, FundedAt: &d.At, TaskID: &taskID,
		CustomerID: d.Customer.ID, ContractorID: d.Contractor.ID, AuthorID: d.Customer.ID,
		Title: d.Title, Description: d.Description, Deadline: d.Deadline,
		AmountMinor: d.Price.AmountMinor, FeeMinor: d.Price.FeeMinor, TotalMinor: d.Price.TotalMinor, FeeBps: d.Price.FeeBps,
		ConfirmedTotalMinor: &d.Price.TotalMinor,
	}}}
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
