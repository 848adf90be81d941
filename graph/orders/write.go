package orders

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/db"
	"stoa/graph/events"
	"stoa/graph/wire"
)

// One statement writes all that an operation leaves behind besides the money: the order, its history, the stored result, and
// the announcements to both participants, who are told nothing but state and version. Four statements would hold the locks for
// three round trips more. finish is its end, the same for a new order and a change; its parameters come first.
const (
	finish = `, history AS (
  INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
), answer AS (
  INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result) VALUES ($9, $2, $5, $10, $11, $12)
)
INSERT INTO events (id, created_at, recipient_id, kind, payload)
VALUES ($13, $2, $14, '` + string(events.OrderChanged) + `', $15), ($16, $2, $17, '` + string(events.OrderChanged) + `', $15)`

	insert = `
WITH made AS (
  INSERT INTO orders (id, created_at, updated_at, state, version, customer_id, contractor_id, author_id, task_id, title, description,
    deadline, amount_minor, fee_minor, total_minor, fee_bps, confirmed_total_minor, funded_at)
  VALUES ($3, $2, $2, $6, $7, $14, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
)` + finish

	update = `
WITH changed AS (
  UPDATE orders SET updated_at = $2, state = $6, version = $7, outcome = $18, confirmed_total_minor = $19, result_text = $20,
    disputed_by = $21, dispute_reason = $22, disputed_at = $23, refund_proposed_by = $24, refund_reason = $25,
    refund_proposed_at = $26, funded_at = $27, delivered_at = $28, closed_at = $29
  WHERE id = $3
)` + finish
)

// create writes a new order with the first step of its history, stores the answer under op and tells both participants.
func (a *API) create(ctx context.Context, tx *db.Tx, s *situation, first step, op operation) (*OrderResult, error) {
	o := &s.order
	return a.write(ctx, tx, s, first, op, insert,
		o.AuthorID, o.TaskID, o.Title, o.Description, o.Deadline, o.AmountMinor, o.FeeMinor, o.TotalMinor, o.FeeBps,
		o.ConfirmedTotalMinor, o.FundedAt)
}

// change writes an order after one more step, stores the answer under op and tells both participants.
func (a *API) change(ctx context.Context, tx *db.Tx, s *situation, next step, op operation) (*OrderResult, error) {
	o := &s.order
	return a.write(ctx, tx, s, next, op, update,
		o.Outcome, o.ConfirmedTotalMinor, o.ResultText, o.DisputedBy, o.DisputeReason, o.DisputedAt,
		o.RefundProposedBy, o.RefundReason, o.RefundProposedAt, o.FundedAt, o.DeliveredAt, o.ClosedAt)
}

// write runs insert or update; columns are the parameters that follow those of finish.
func (a *API) write(ctx context.Context, tx *db.Tx, s *situation, done step, op operation, query string, columns ...any) (*OrderResult, error) {
	o := &s.order
	if err := showFiles(ctx, tx.SQL, done.by, s); err != nil {
		return nil, err
	}
	result, err := newResult(newCard(s, done.by))
	if err != nil {
		return nil, err
	}
	payload, err := wire.Marshal(events.OrderPayload{OrderID: o.ID, Status: string(o.State), Version: o.Version})
	if err != nil {
		return nil, err
	}
	_, err = tx.SQL.ExecContext(ctx, query, append([]any{
		newID(), done.at, o.ID, done.action, done.by, o.State, o.Version, done.reason,
		newID(), op.id, op.hash, result.body,
		newID(), o.CustomerID, payload, newID(), o.ContractorID,
	}, columns...)...)
	if err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { a.Events.Wake([]uuid.UUID{o.CustomerID, o.ContractorID}) })
	return result, nil
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
