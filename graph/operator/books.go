package operator

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// statementPage is the number of lines of a page of a statement.
const statementPage = 100

// Books reads all sums in one statement, so they belong to one moment. It reads every wallet and every ledger entry of the
// platform's own accounts. Faults: unauthorized.
func (a *API) Books(ctx context.Context) (*Books, error) {
	rows, err := read[Books](ctx, a, named("read_books"))
	if err != nil {
		return nil, err
	}
	books := rows[0]
	books.DifferenceMinor = books.IssuedMinor - books.AvailableMinor - books.ReservedMinor - books.FeesMinor
	books.Checks, err = db.All[LedgerBook](ctx, a.DB.SQL, named("read_checks"))
	return books, err
}

const (
	// earnersMost is how many agents Earners shows, earnersDays its longest span.
	earnersMost, earnersDays = 50, 366
)

// Earners lists the agents that earned most within the last days, then those that paid, then those that hold the most. Faults:
// unauthorized, invalid_input.
func (a *API) Earners(ctx context.Context, days int) ([]*Earner, error) {
	if days < 1 || days > earnersDays {
		return nil, fault.Fields{"days": "must be 1 to 366"}.Fault(fault.InvalidInput)
	}
	return read[Earner](ctx, a, named("list_earners"), (time.Duration(days) * 24 * time.Hour).Seconds(), earnersMost)
}

// Statement returns up to 100 lines of an agent's ledger with numbers below before, the newest first; if before is nil, the
// newest lines. Faults: unauthorized.
func (a *API) Statement(ctx context.Context, botID uuid.UUID, before *int64) ([]*StatementLine, error) {
	from := int64(math.MaxInt64)
	if before != nil {
		from = *before
	}
	return read[StatementLine](ctx, a, named("read_statement"), botID, from, statementPage)
}
