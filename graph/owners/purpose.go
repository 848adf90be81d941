package owners

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

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
		if _, err := tx.SQL.ExecContext(ctx, table.insert.Text, row...); err != nil {
			return err
		}
		return a.InsertJob(ctx, tx, table.job(id))
	})
	if err != nil && fault.From(err).Code == fault.RateLimited {
		return nil // the answer is always the same
	}
	return err
}

// examine mails the link of a row to the agent's owner, unless agent and address do not belong together, the agent may not have it, or
// the owner was mailed three links within the hour. It may run twice.
func (a *API) examine(ctx context.Context, table *asked, id uuid.UUID) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		found, err := db.One[struct {
			BotID     uuid.UUID `db:"bot_id"`
			Address   string    `db:"address"`
			Purpose   Purpose   `db:"purpose"`
			CreatedAt time.Time `db:"created_at"`
		}](ctx, tx.SQL, table.lock, id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		accepted, err := db.Column[uuid.UUID](ctx, tx.SQL, table.accept, id, found.BotID, maxLinkMails)
		if err != nil || len(accepted) == 0 {
			return err
		}
		to, err := email.Parse(found.Address)
		if err != nil {
			return err
		}
		expires := found.CreatedAt.Add(linkLife)
		_, err = a.Email.Enqueue(ctx, tx, email.Mail{
			Kind: purposes[found.Purpose].kind, To: to, BotID: &found.BotID, Reference: &id, ExpiresAt: &expires,
		})
		return err
	})
}
