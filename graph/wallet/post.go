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
)

// Transaction is one double-entry transaction: its postings sum to zero and each names an account.
type Transaction struct {
	Kind Kind
	// OperationID is the client's idempotency id, where there is one.
	OperationID *uuid.UUID
	OrderID     *uuid.UUID
	Postings    []Posting
}

// Posting moves DeltaMinor minor units into an account, or out of it when negative.
type Posting struct {
	// BotID is the owner of an available or reserved account, and zero on the platform's sides.
	BotID      uuid.UUID
	Account    AccountKind
	DeltaMinor int64
}

// post is one call of the function that holds the rules (migrate/sql/0016_orders.sql), because statements that write more than
// money call it too: an operation on an order moves its money in the statement that writes the order.
const post = `SELECT stoa_post($1, $2, $3, $4, $5, $6, $7, $8)`

// writers are the functions that write money; the second one makes a wallet with its first credits (0020_registration.sql).
var writers = []string{"stoa_post", "stoa_open_wallet"}

// SQLSTATEs of the database refusing a posting.
const (
	brokenRule = "23"
	outOfRange = "22003"
)

// Post writes a transaction inside tx: all of it or nothing. It returns insufficient_funds when an available balance would become
// negative, and ledger_conflict when the ledger's other rules refuse the posting.
func Post(ctx context.Context, tx *db.Tx, t Transaction) error {
	_, err := tx.SQL.ExecContext(ctx, post, append([]any{t.OperationID, t.OrderID}, t.Arguments()...)...)
	if refusal := Refusal(err); refusal != nil {
		return refusal
	}
	return err
}

// Arguments are those of stoa_post behind the operation and the order, for a statement that calls it along with what else it
// does. Without postings all are null: no money moves.
func (t Transaction) Arguments() []any {
	n := len(t.Postings)
	if n == 0 {
		return make([]any, 6)
	}
	ids, bots, accounts, deltas := make([]string, n), make([]*string, n), make([]string, n), make([]int64, n)
	for i, p := range t.Postings {
		ids[i] = uuid.Must(uuid.NewV7()).String()
		if p.BotID != uuid.Nil {
			owner := p.BotID.String()
			bots[i] = &owner
		}
		accounts[i] = string(p.Account)
		deltas[i] = p.DeltaMinor
	}
	return []any{
		uuid.Must(uuid.NewV7()), string(t.Kind), pq.Array(ids), pq.Array(bots), pq.Array(accounts), pq.Array(deltas),
	}
}

// Refusal is the fault of an error with which one of the writers refused a posting, whichever statement called it, and nil for
// every other error.
func Refusal(err error) error {
	refused := new(pq.Error)
	if !errors.As(err, &refused) || !slices.ContainsFunc(writers, func(w string) bool { return strings.Contains(refused.Where, w) }) {
		return nil
	}
	switch {
	case refused.Constraint == "accounts_available_not_negative":
		return fault.New(fault.InsufficientFunds)
	case refused.Code.Class() == brokenRule, refused.Code == outOfRange:
		return fault.Wrap(fault.LedgerConflict, err)
	default:
		return nil
	}
}
