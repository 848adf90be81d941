package email

import (
	"context"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

var countMail = statements.Named("count_mail")

// TakeCode counts a mail with a code towards the hourly budget, for a request that is about to enqueue it as Counted. A code is
// refused rather than kept waiting, because it would expire meanwhile; the last quarter of the budget is not for codes, so that a
// flood of them leaves room for other mails. Its fault is rate_limited.
func (a *API) TakeCode(ctx context.Context, tx *db.Tx) error {
	return a.Quotas.Take(ctx, tx.SQL, limits.MailedCodes, "")
}

// count counts a mail towards the hourly budget, unless it was counted before. Where the budget is used up it returns for how long the
// mail waits.
func (a *API) count(ctx context.Context, m *claimed, limit limits.Limit) (wait time.Duration, err error) {
	if m.Counted {
		return 0, nil
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := a.Quotas.Take(ctx, tx.SQL, limit, ""); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, countMail.Text, m.ID)
		return err
	})
	if full := fault.From(err); err != nil && full.Code == limit.Code {
		return full.Retry(), nil
	}
	return 0, err
}
