package operator

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/account"
	"stoa/ent/bot"
	"stoa/ent/ledgerentry"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// statementPage is the number of lines of a page of a statement.
const statementPage = 100

// Books reads all sums in one statement, so they belong to one moment. It reads every wallet and every ledger entry of the
// platform's own accounts. Faults: unauthorized.
func (a *API) Books(ctx context.Context) (*Books, error) {
	r := a.reads(ctx)
	rows, checks := table[Books](ctx, r, named("read_books")), table[LedgerBook](ctx, r, named("read_checks"))
	if r.err != nil {
		return nil, r.err
	}
	books := rows[0]
	books.DifferenceMinor, books.Checks = books.IssuedMinor-books.AvailableMinor-books.ReservedMinor-books.FeesMinor, checks
	return books, nil
}

const (
	// earnersMost is the maximum number of agents of Earners, earnersDays its maximum span.
	earnersMost, earnersDays = 50, 366
)

// Earners lists the agents that earned most within the last days, then agents that paid, then agents that hold the most. Faults:
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

// TopUpWallet credits 1 to 10^12 minor units to an agent that is not deleted (§2.5). With an operation id it is idempotent: a
// repeat for the same agent and amount credits nothing and reports this, a repeat with other data is idempotency_conflict. Other
// faults: invalid_input, not_found.
func (a *API) TopUpWallet(ctx context.Context, botID uuid.UUID, amountMinor int64, operationID *uuid.UUID, reason string) (*TopUp, error) {
	wrong := fault.Fields{}
	if amountMinor < 1 || amountMinor > MaxTopUpMinor {
		wrong.Add("amountMinor", errors.New("must be from 1 to 1000000000000 minor units"))
	}
	details := map[string]any{"amountMinor": amountMinor}
	setIfSent(details, "operationId", operationID)
	e := entry{topUpWallet, botID.String(), reason, details, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*TopUp, error) {
		held := tx.Ent.Account.Query().Where(account.BotID(botID), account.HasBotWith(bot.StateNEQ(bot.StateDeleted)))
		if _, err := held.Clone().ForUpdate().Only(ctx); err != nil {
			return nil, err
		}
		repeated, err := toppedUp(ctx, tx.Tx, botID, amountMinor, operationID)
		if err != nil {
			return nil, err
		}
		details["repeated"] = repeated
		if !repeated {
			err := wallet.Issue(ctx, tx.Tx, wallet.TopUp, botID, amountMinor, operationID)
			if db.Violates(err, "ledger_entries_one_top_up") { // another agent's, concurrently
				return nil, fault.New(fault.IdempotencyConflict)
			}
			if err != nil {
				return nil, err
			}
		}
		now, err := held.Only(ctx)
		if err != nil {
			return nil, err
		}
		return &TopUp{Account: now.Unwrap(), Repeated: repeated}, nil
	})
}

// toppedUp reports whether this same top-up was made before. The account's lock prevents a concurrent one.
func toppedUp(ctx context.Context, tx *db.Tx, botID uuid.UUID, amountMinor int64, operationID *uuid.UUID) (bool, error) {
	if operationID == nil {
		return false, nil
	}
	made, err := tx.Ent.LedgerEntry.Query().Where(
		ledgerentry.KindEQ(ledgerentry.KindTopUp), ledgerentry.AccountKindEQ(ledgerentry.AccountKindAvailable),
		ledgerentry.OperationID(*operationID),
	).Only(ctx)
	if ent.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if made.BotID == nil || *made.BotID != botID || made.DeltaMinor != amountMinor {
		return false, fault.New(fault.IdempotencyConflict)
	}
	return true, nil
}
