package orders

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
)

// One statement writes all that an operation leaves behind: the order, its history, the stored result, the announcements to both
// participants, who are told nothing but state and version, and the money. It is a function in the database
// (migrate/sql/0016_orders.sql) for two reasons: a transaction's BEGIN, locks, posting, write and COMMIT would be five round trips
// that others wait for; and its statements see what others commit while it waits for them, so it can tell whether what was
// decided upon still holds, and writes nothing where it does not. Each has the parameters of noted at its end.
const (
	openOrder = `SELECT stoa_order_open($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, ` +
		`$18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`
	stepOrder = `SELECT stoa_order_step($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, ` +
		`$20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)`
)

// open writes a new order with the first step of its history, stores the answer under op and tells both participants. An offer
// rests on what was decided upon; any other first step is its caller's to lock.
func (a *API) open(ctx context.Context, in scope, s *situation, first step, op operation, money movement) (*OrderResult, error) {
	o := &s.order
	return a.write(ctx, in, s, first, op, money, openOrder,
		first.action == created, o.ID, first.at, o.CustomerID, o.ContractorID, o.AuthorID, o.TaskID, o.State, o.Title, o.Description,
		o.Deadline, o.AmountMinor, o.FeeMinor, o.TotalMinor, o.FeeBps, o.ConfirmedTotalMinor, o.FundedAt)
}

// change writes an order after one more step, stores the answer under op and tells both participants.
func (a *API) change(ctx context.Context, in scope, s *situation, next step, op operation, t *transition) (*OrderResult, error) {
	o := &s.order
	return a.write(ctx, in, s, next, op, t.money, stepOrder,
		t.obliges(), o.Version-1, o.ID, next.at, o.CustomerID, o.ContractorID, o.State, o.Outcome, o.ConfirmedTotalMinor, o.ResultText,
		o.DisputedBy, o.DisputeReason, o.DisputedAt, o.RefundProposedBy, o.RefundReason, o.RefundProposedAt,
		o.FundedAt, o.DeliveredAt, o.ClosedAt)
}

// write runs openOrder or stepOrder; columns are the parameters before those of noted. Faults: insufficient_funds,
// ledger_conflict; errChanged where what was decided upon has changed, or a request under way took the operation id.
func (a *API) write(
	ctx context.Context, in scope, s *situation, done step, op operation, money movement, query string, columns ...any,
) (*OrderResult, error) {
	if err := showFiles(ctx, in, done.by, s); err != nil {
		return nil, err
	}
	result, err := newResult(newCard(s, done.by))
	if err != nil {
		return nil, err
	}
	note, err := s.noted(done, op, result, money)
	if err != nil {
		return nil, err
	}
	var written bool
	err = in.QueryRowContext(ctx, query, append(columns, note...)...).Scan(&written)
	if refusal := wallet.Refusal(err); refusal != nil {
		return nil, refusal
	}
	if db.Violates(err, "operation_bot_id_operation_id") || (err == nil && !written) {
		return nil, errChanged
	}
	if err != nil {
		return nil, err
	}
	both := []uuid.UUID{s.order.CustomerID, s.order.ContractorID}
	in.then(func() { a.Events.Wake(both) })
	return result, nil
}

// noted are the parameters of stoa_order_note behind the order's own.
func (s *situation) noted(done step, op operation, result *OrderResult, money movement) ([]any, error) {
	o := &s.order
	announcement, err := wire.Marshal(events.OrderPayload{OrderID: o.ID, Status: string(o.State), Version: o.Version})
	if err != nil {
		return nil, err
	}
	var posted wallet.Transaction
	if money.post != nil {
		posted = money.post(s.escrow(op))
	}
	ids := pq.StringArray{newID().String(), newID().String(), newID().String(), newID().String()}
	return append([]any{done.action, done.by, done.reason, op.id, op.hash, result.body, announcement, ids}, posted.Arguments()...), nil
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
