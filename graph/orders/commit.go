package orders

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/once"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
)

// OrderResult is an order as an operation left it, as REST wraps it. A repeat holds the order as it was then.
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
	args, err := s.commitArgs(statement == named("open_order"), obliges, done, op, made.Text(), money)
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
		OrderID: s.ID, Status: string(s.State), Version: s.Version, Action: done.action, ActorID: done.by,
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
