package owners

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
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
		Address string  `db:"address"`
		Written int64   `db:"written"`
		Wait    float64 `db:"wait_seconds"`
	}](ctx, tx.SQL, named("lock_writable"), botID)
	if err != nil {
		return nil, false, err
	}
	id := uuid.Must(uuid.NewV7())
	if operation != nil {
		id = uuid.NewSHA1(botID, operation[:])
		same, err := db.Column[bool](ctx, tx.SQL, named("compare_text"), id, text)
		switch {
		case err != nil:
			return nil, false, err
		case len(same) > 0 && !same[0]:
			return nil, false, fault.New(fault.IdempotencyConflict)
		case len(same) > 0:
			sent, err = tx.Ent.Mail.Get(ctx, id)
			return sent, true, err
		}
	}
	switch {
	case found.Address == "":
		return nil, false, fault.New(fault.StateConflict).Say("The agent has no owner with a verified address.")
	case found.Written >= bounds.OperatorMails:
		return nil, false, fault.New(fault.RateLimited).Say("Operators can write about an agent five times within 24 hours.").
			After(limits.Seconds(found.Wait))
	}
	_, err = a.Email.Enqueue(ctx, tx, email.Mail{ID: id, Kind: mail.KindOperatorMail, To: found.Address, BotID: &botID, Text: text})
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
	return a.DB.ExecBatches(ctx, named("delete_old_challenges"), deleteBatch, ChallengeRetention.Seconds())
}

// DeleteOldRestores deletes the requests to restore that are past RestoreRetention and returns how many. A job calls it.
func (a *API) DeleteOldRestores(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old_restores"), deleteBatch, RestoreRetention.Seconds())
}

// Purpose names a request that an owner makes on a page.
type Purpose string

// The purposes.
const (
	// ForRestore: a new token of the agent.
	ForRestore Purpose = "restore"
	// ForExport: an archive of the agent.
	ForExport Purpose = "export"
	// ForErasure: the erasure of the agent.
	ForErasure Purpose = "erase"
)

// purposes maps each purpose to its mail, link and table.
var purposes = map[Purpose]struct {
	kind mail.Kind
	link email.Link
	in   *asked
}{
	ForRestore: {mail.KindRestoreLink, email.RestoreLink, restores},
	ForExport:  {mail.KindExportLink, email.ExportLink, requests},
	ForErasure: {mail.KindEraseLink, email.EraseLink, requests},
}

// asked is a table with the requests of owners.
type asked struct {
	insert, lock, accept *db.Statement
	// named reports that a row stores its purpose.
	named bool
	// job returns the job that examines a row.
	job func(id uuid.UUID) db.Job
}

var (
	restores = &asked{
		insert: named("insert_restore"), lock: named("lock_restorable"), accept: named("accept_restore"),
		job: func(id uuid.UUID) db.Job { return RestoreJob{id} },
	}
	requests = &asked{
		insert: named("insert_request"), lock: named("lock_requestable"), accept: named("accept_request"),
		named: true, job: func(id uuid.UUID) db.Job { return RequestJob{id} },
	}
)

const (
	// linkLife is how long a mailed link can be confirmed.
	linkLife = bounds.RestoreLife
	// maxLinkMails is the maximum number of links of one table that an agent's owner is mailed within an hour.
	maxLinkMails = bounds.RestoreMails
)

// ask stores an owner's request; a job mails a link to the agent's owner if the address is the owner's. Answer and work do not
// depend on whether agent and address exist. Faults: invalid_input.
func (a *API) ask(ctx context.Context, purpose Purpose, in RestoreInput) error {
	handle, address, err := in.check()
	if err != nil {
		return err
	}
	id, table := uuid.Must(uuid.NewV7()), purposes[purpose].in
	row := []any{id, handle, address.Key()}
	if table.named {
		row = []any{id, string(purpose), handle, address.Key()}
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := a.Quotas.Take(ctx, tx.SQL, limits.RestoresPerAddress, viewer.From(ctx).Address); err != nil {
			return err
		}
		if err := db.Exec(ctx, tx.SQL, table.insert, row...); err != nil {
			return err
		}
		return a.InsertJob(ctx, tx, table.job(id))
	})
	if fault.CodeOf(err) == fault.RateLimited {
		return nil // the answer is always the same
	}
	return err
}

// examine mails the link of a row to the agent's owner, unless agent and address do not belong together, the agent may not have
// it, or the owner was mailed three links within the hour. It may run twice.
func (a *API) examine(ctx context.Context, table *asked, id uuid.UUID) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		found, err := db.Find[struct {
			BotID     uuid.UUID `db:"bot_id"`
			Address   string    `db:"address"`
			Purpose   Purpose   `db:"purpose"`
			CreatedAt time.Time `db:"created_at"`
		}](ctx, tx.SQL, table.lock, id)
		if err != nil || found == nil {
			return err
		}
		accepted, err := db.Column[uuid.UUID](ctx, tx.SQL, table.accept, id, found.BotID, maxLinkMails)
		if err != nil || len(accepted) == 0 {
			return err
		}
		expires := found.CreatedAt.Add(linkLife)
		_, err = a.Email.Enqueue(ctx, tx, email.Mail{
			Kind: purposes[found.Purpose].kind, To: found.Address, BotID: &found.BotID, Reference: &id, ExpiresAt: &expires,
		})
		return err
	})
}
