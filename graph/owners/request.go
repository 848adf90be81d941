package owners

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// RequestRetention is how long a request is kept: longer than its archive.
const RequestRetention = bounds.ExportLife + 2*24*time.Hour

// RequestJob is the job that examines a request of an owner.
type RequestJob struct {
	RequestID uuid.UUID `json:"request_id"`
}

func (RequestJob) Kind() string { return "examine_request" }

// RequireRequests returns lifecycle_setup_pending while mail is not set up.
func (a *API) RequireRequests() error {
	if a.SendsMail {
		return nil
	}
	return fault.New(fault.LifecycleSetupPending).Say("This server cannot send mail, so it cannot do this for owners. Ask the operator.")
}

// Request stores that an owner asks for an archive or an erasure (ask). Anyone may call it. Faults: lifecycle_setup_pending,
// invalid_input.
func (a *API) Request(ctx context.Context, purpose Purpose, in RestoreInput) error {
	if err := a.RequireRequests(); err != nil {
		return err
	}
	return a.ask(ctx, purpose, in)
}

// ExamineRequest mails a request's link to the agent's owner (examine), unless the agent is suspended or deleted. Jobs call it.
func (a *API) ExamineRequest(ctx context.Context, id uuid.UUID) error {
	return a.examine(ctx, requests, id)
}

// Wish holds the data of a request's page. If its state is LinkUnknown, all other fields are empty.
type Wish struct {
	State  LinkState `db:"state"`
	BotID  uuid.UUID `db:"bot_id"`
	Handle string    `db:"handle"`
}

// Wish returns the data for the link of a request's mail, and changes nothing. Anyone who has the link may call it.
func (a *API) Wish(ctx context.Context, purpose Purpose, id uuid.UUID, token string) (*Wish, error) {
	unknown := &Wish{State: LinkUnknown}
	if !a.Email.Follows(purposes[purpose].link, id, token) {
		return unknown, nil
	}
	found, err := db.Find[Wish](ctx, a.DB.SQL, named("select_request"), id, string(purpose), linkLife.Seconds())
	return cmp.Or(found, unknown), err
}

// Grant fulfils a request by calling do, and stores that. It returns a wish that is not open unchanged. A repeat may call do
// again. Anyone who has the link may call it.
func (a *API) Grant(
	ctx context.Context, purpose Purpose, id uuid.UUID, token string, do func(ctx context.Context, botID uuid.UUID) error,
) (*Wish, error) {
	found, err := a.Wish(ctx, purpose, id, token)
	if err != nil || found.State != LinkOpen {
		return found, err
	}
	if err := do(ctx, found.BotID); err != nil {
		return nil, err
	}
	err = db.Exec(ctx, a.DB.SQL, named("confirm_request"), id)
	found.State = LinkDone
	return found, err
}

// DeleteOldRequests deletes the requests that are past RequestRetention and returns how many. A job calls it.
func (a *API) DeleteOldRequests(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old_requests"), deleteBatch, RequestRetention.Seconds())
}

// restoreRepeat is the time for which the link of a restore shows the same token again.
const restoreRepeat = 10 * time.Minute

// RestoreJob is the job that examines a request to restore.
type RestoreJob struct {
	RestoreID uuid.UUID `json:"restore_id"`
}

func (RestoreJob) Kind() string { return "examine_restore" }

// Requested is the answer of RequestRestore. It does not depend on whether agent and address exist.
type Requested struct {
	Requested bool `json:"requested"`
}

// RequestRestore stores a request to restore access to an agent (§2.4, ask). Anyone may call it. Faults: lifecycle_setup_pending,
// invalid_input.
func (a *API) RequestRestore(ctx context.Context, in RestoreInput) (*Requested, error) {
	if err := a.RequireRestore(ctx); err != nil {
		return nil, err
	}
	if err := a.ask(ctx, ForRestore, in); err != nil {
		return nil, err
	}
	return &Requested{true}, nil
}

// ExamineRestore mails the link of a request to restore to the agent's owner (examine), unless the agent may not be restored.
// Only a job calls it.
func (a *API) ExamineRestore(ctx context.Context, id uuid.UUID) error {
	return a.examine(ctx, restores, id)
}

// Restoration holds the data of a restore page. If its state is LinkUnknown, all other fields are empty.
type Restoration struct {
	State  LinkState `db:"state"`
	BotID  uuid.UUID `db:"bot_id"`
	Handle string    `db:"handle"`
	// Token and TokenExpiresAt are the agent's new token, once the restore is confirmed.
	Token          string
	TokenExpiresAt sql.NullTime `db:"token_expires_at"`
}

// Restoration returns the data for the link of a restore's mail, without a token, and changes nothing. Anyone who has the link
// may call it.
func (a *API) Restoration(ctx context.Context, id uuid.UUID, token string) (*Restoration, error) {
	return a.restoration(ctx, a.DB.SQL, id, token)
}

func (a *API) restoration(ctx context.Context, q db.Querier, id uuid.UUID, token string) (*Restoration, error) {
	unknown := &Restoration{State: LinkUnknown}
	if !a.Email.Follows(email.RestoreLink, id, token) {
		return unknown, nil
	}
	found, err := db.Find[Restoration](ctx, q, named("select_restore"), id, linkLife.Seconds(), restoreRepeat.Seconds())
	return cmp.Or(found, unknown), err
}

// Restore ends every token of the agent, pauses its webhooks, makes a new token and, if the agent is in the trash, makes it
// active again (§3.4). Passport and balance stay. A repeat within ten minutes returns the same token. If the state was LinkOpen
// or LinkRepeat, the result has a token and the state LinkDone. Anyone who has the link may call it.
func (a *API) Restore(ctx context.Context, id uuid.UUID, token string) (*Restoration, error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Restoration, error) {
		if err := db.Exec(ctx, tx.SQL, named("lock_restore"), id); err != nil {
			return nil, err
		}
		r, err := a.restoration(ctx, tx.SQL, id, token)
		if err != nil || r.State != LinkOpen && r.State != LinkRepeat {
			return r, err
		}
		r.Token = auth.DeriveToken(a.Email.Key, token, "restore "+id.String())
		if r.State == LinkOpen {
			if err := a.restore(ctx, tx, id, r); err != nil {
				return nil, err
			}
		}
		r.State = LinkDone
		return r, nil
	})
}

func (a *API) restore(ctx context.Context, tx *db.Tx, id uuid.UUID, r *Restoration) error {
	granted, err := a.Auth.Reissue(ctx, tx, r.BotID, r.Token, auth.Restored)
	if err != nil {
		return err
	}
	r.TokenExpiresAt = sql.NullTime{Time: granted.TokenExpiresAt, Valid: true}
	if err := db.Exec(ctx, tx.SQL, named("confirm_restore"), id, granted.TokenExpiresAt); err != nil {
		return err
	}
	if err := a.LeaveTrash(ctx, tx, r.BotID); err != nil {
		return err
	}
	return a.ProfileChanged(ctx, tx, r.BotID)
}
