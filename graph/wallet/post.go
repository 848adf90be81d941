package wallet

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/db"
	"stoa/graph/fault"
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

// post writes a transaction in one statement: it locks the agents' accounts in ascending id, moves the balances, gives each
// agent's entries the next numbers of its own, and adds the entries. All or nothing; the balance checks and the balance
// trigger are the database's.
const post = `
WITH posting AS (
  SELECT p.*, row_number() OVER (PARTITION BY p.bot_id ORDER BY p.position) AS nth
  FROM unnest($5::uuid[], $6::uuid[], $7::text[], $8::bigint[]) WITH ORDINALITY AS p (id, bot_id, account_kind, delta_minor, position)
), change AS (
  SELECT bot_id, count(*) AS entries,
    coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'available'), 0)::bigint AS available,
    coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'reserved'), 0)::bigint AS reserved
  FROM posting WHERE account_kind IN ('available', 'reserved') GROUP BY bot_id
), moved AS (
  UPDATE accounts a SET
    available_minor = a.available_minor + c.available,
    reserved_minor = a.reserved_minor + c.reserved,
    entry_count = a.entry_count + c.entries
  FROM change c
  WHERE a.bot_id = c.bot_id AND a.id = ANY (ARRAY(SELECT l.id FROM accounts l WHERE l.bot_id = ANY ($6::uuid[]) ORDER BY l.id FOR UPDATE))
  RETURNING a.bot_id, a.entry_count - c.entries AS numbered
)
INSERT INTO ledger_entries (id, transaction_id, kind, operation_id, order_id, bot_id, number, account_kind, delta_minor, created_at)
SELECT p.id, $1::uuid, $2::text, $3::uuid, $4::uuid, m.bot_id, m.numbered + p.nth, p.account_kind, p.delta_minor, stoa_now()
FROM posting p LEFT JOIN moved m ON m.bot_id = p.bot_id`

// SQLSTATEs of the database refusing a posting.
const (
	brokenRule = "23"
	outOfRange = "22003"
)

// Post writes a transaction inside tx. It returns insufficient_funds when an available balance would become negative, and
// ledger_conflict when the ledger's other rules refuse the posting.
func Post(ctx context.Context, tx *db.Tx, t Transaction) error {
	n := len(t.Postings)
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
	_, err := tx.SQL.ExecContext(ctx, post, uuid.Must(uuid.NewV7()), string(t.Kind), t.OperationID, t.OrderID,
		pq.Array(ids), pq.Array(bots), pq.Array(accounts), pq.Array(deltas))
	if db.Violates(err, "accounts_available_not_negative") {
		return fault.New(fault.InsufficientFunds)
	}
	if refused := new(pq.Error); errors.As(err, &refused) && (refused.Code.Class() == brokenRule || refused.Code == outOfRange) {
		return fault.Wrap(fault.LedgerConflict, err)
	}
	return err
}
