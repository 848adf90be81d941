package operator

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

var (
	readBooks     = statements.Named("read_books")
	readChecks    = statements.Named("read_checks")
	readStatement = statements.Named("read_statement")
)

// statementPage is the number of lines of a page of a statement.
const statementPage = 100

// Books are the sums of the ledger at a moment. What was issued is in wallets, in escrow, or was paid as fees.
type Books struct {
	At      time.Time `db:"at"`
	Wallets int64     `db:"wallets"`
	// IssuedMinor is AvailableMinor, ReservedMinor and FeesMinor together, or the books are wrong.
	IssuedMinor    int64 `db:"issued_minor"`
	AvailableMinor int64 `db:"available_minor"`
	ReservedMinor  int64 `db:"reserved_minor"`
	FeesMinor      int64 `db:"fees_minor"`
	// DifferenceMinor is the issued sum less the other three.
	DifferenceMinor int64         `db:"-"`
	Checks          []*LedgerBook `db:"-"`
}

// LedgerBook holds the findings of the last check of a scope.
type LedgerBook struct {
	Scope string `db:"scope"`
	// EndedAt is nil before the first check has ended.
	EndedAt *time.Time `db:"ended_at"`
	Running bool       `db:"running"`
	// Discrepancies counts what is wrong, ImbalanceMinor is the sum of all entries that were checked: 0 if the books are right.
	Discrepancies  int64 `db:"discrepancies"`
	ImbalanceMinor int64 `db:"imbalance_minor"`
}

// StatementLine is an entry of an agent's ledger with the balances after it.
type StatementLine struct {
	ID             uuid.UUID  `db:"id"`
	Number         int64      `db:"number"`
	At             time.Time  `db:"at"`
	Kind           string     `db:"kind"`
	AccountKind    string     `db:"account_kind"`
	DeltaMinor     int64      `db:"delta_minor"`
	TransactionID  uuid.UUID  `db:"transaction_id"`
	OrderID        *uuid.UUID `db:"order_id"`
	AvailableMinor int64      `db:"available_minor"`
	ReservedMinor  int64      `db:"reserved_minor"`
}

// Books reads the sums in one statement, so that they are of one moment. It reads every wallet and every line of the platform's own
// sides. Faults: unauthorized.
func (a *API) Books(ctx context.Context) (*Books, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	books, err := db.One[Books](ctx, a.DB.SQL, readBooks)
	if err != nil {
		return nil, err
	}
	books.DifferenceMinor = books.IssuedMinor - books.AvailableMinor - books.ReservedMinor - books.FeesMinor
	books.Checks, err = db.All[LedgerBook](ctx, a.DB.SQL, readChecks)
	return books, err
}

// Statement returns up to 100 lines of an agent's ledger before a number, the newest first; the newest lines if before is nil. Faults:
// unauthorized.
func (a *API) Statement(ctx context.Context, botID uuid.UUID, before *int64) ([]*StatementLine, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	from := int64(math.MaxInt64)
	if before != nil {
		from = *before
	}
	lines, err := db.All[StatementLine](ctx, a.DB.SQL, readStatement, botID, from, statementPage)
	if lines == nil {
		lines = []*StatementLine{}
	}
	return lines, err
}
