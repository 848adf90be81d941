package owners

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// RequireMailer returns lifecycle_setup_pending while mail is not set up.
func (a *API) RequireMailer() error {
	if a.SendsMail {
		return nil
	}
	return fault.New(fault.LifecycleSetupPending).Say("This installation cannot send mail: set it up first.")
}

// MailFromOperator mails an agent's owner a text that an operator has written (§10), in the transaction of its audit entry. A
// repeat of the operation sends no second mail; repeated reports that. Only package operator calls it, which checks caller and
// text. Faults: not_found (also for a deleted agent), idempotency_conflict (the operation mailed another text), state_conflict
// (no verified address), rate_limited (a sixth mail about the agent within 24 hours).
func (a *API) MailFromOperator(
	ctx context.Context, tx *db.Tx, botID uuid.UUID, text string, operation *uuid.UUID,
) (sent *ent.Mail, repeated bool, err error) {
	found, err := db.One[struct {
		Address string `db:"address"`
		Written int64  `db:"written"`
	}](ctx, tx.SQL, named("lock_writable"), botID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, fault.New(fault.NotFound)
	}
	if err != nil {
		return nil, false, err
	}
	id := uuid.Must(uuid.NewV7())
	if operation != nil {
		id = uuid.NewSHA1(botID, operation[:])
		same, err := db.One[struct {
			Same bool `db:"same"`
		}](ctx, tx.SQL, named("compare_text"), id, text)
		switch {
		case err == nil && !same.Same:
			return nil, false, fault.New(fault.IdempotencyConflict)
		case err == nil:
			sent, err = tx.Ent.Mail.Get(ctx, id)
			return sent, true, err
		case !errors.Is(err, sql.ErrNoRows):
			return nil, false, err
		}
	}
	switch {
	case found.Address == "":
		return nil, false, fault.New(fault.StateConflict).Say("The agent has no owner with a verified address.")
	case found.Written >= bounds.OperatorMails:
		return nil, false, fault.New(fault.RateLimited).Say("Operators can write about an agent five times within 24 hours.").After(time.Hour)
	}
	to, err := email.Parse(found.Address)
	if err != nil {
		return nil, false, err
	}
	_, err = a.Email.Enqueue(ctx, tx, email.Mail{ID: id, Kind: mail.KindOperatorMail, To: to, BotID: &botID, Text: text})
	if err != nil {
		return nil, false, err
	}
	sent, err = tx.Ent.Mail.Get(ctx, id)
	return sent, false, err
}

// The time for which challenges and restores are kept after their creation, used or not: as long as they count towards the limits
// of an address and their results can be requested again.
const (
	ChallengeRetention = 25 * time.Hour
	RestoreRetention   = 48 * time.Hour
)

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

// DeleteOldChallenges deletes the challenges that are past ChallengeRetention and returns how many. A job calls it.
func (a *API) DeleteOldChallenges(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old_challenges").Text, deleteBatch, ChallengeRetention.Seconds())
}

// DeleteOldRestores deletes the requests to restore that are past RestoreRetention and returns how many. A job calls it.
func (a *API) DeleteOldRestores(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old_restores").Text, deleteBatch, RestoreRetention.Seconds())
}
