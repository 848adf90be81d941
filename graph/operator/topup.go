package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/account"
	"stoa/ent/bot"
	"stoa/ent/ledgerentry"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// TopUpWallet credits 1 to 10^12 minor units to an agent that is not deleted (§2.5). With an operation id it is idempotent: a
// repeat for the same agent and amount credits nothing and reports that, a repeat with other data is idempotency_conflict. Other
// faults: invalid_input, not_found.
func (a *API) TopUpWallet(ctx context.Context, botID uuid.UUID, amountMinor int64, operationID *uuid.UUID, reason string) (*TopUp, error) {
	wrong := fault.Fields{}
	if amountMinor < 1 || amountMinor > MaxTopUpMinor {
		wrong.Add("amountMinor", errTopUp)
	}
	details := map[string]any{"amountMinor": amountMinor}
	setIfSent(details, "operationId", operationID)
	e := entry{topUpWallet, botID.String(), reason, details, wrong, nil}
	result, err := audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*TopUp, error) {
		held := tx.Ent.Account.Query().Where(account.BotID(botID), account.HasBotWith(bot.StateNEQ(bot.StateDeleted)))
		if _, err := held.Clone().ForUpdate().Only(ctx); err != nil {
			return nil, err
		}
		repeated, err := toppedUp(ctx, tx, botID, amountMinor, operationID)
		if err != nil {
			return nil, err
		}
		details["repeated"] = repeated
		if !repeated {
			err := wallet.Issue(ctx, tx, wallet.TopUp, botID, amountMinor, operationID)
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
		return &TopUp{Account: now, Repeated: repeated}, nil
	})
	if err != nil {
		return nil, err
	}
	result.Account = result.Account.Unwrap()
	return result, nil
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
