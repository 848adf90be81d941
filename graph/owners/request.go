package owners

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

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

// ExamineRequest mails the link of a request to the agent's owner (examine), never about a suspended or deleted agent. Only a job calls it.
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
	return a.wish(ctx, a.DB.SQL, purpose, id, token)
}

func (a *API) wish(ctx context.Context, q db.Querier, purpose Purpose, id uuid.UUID, token string) (*Wish, error) {
	if !a.Email.Follows(purposes[purpose].link, id, token) {
		return &Wish{State: LinkUnknown}, nil
	}
	found, err := db.One[Wish](ctx, q, named("select_request"), id, string(purpose), linkLife.Seconds())
	if errors.Is(err, sql.ErrNoRows) {
		return &Wish{State: LinkUnknown}, nil
	}
	return found, err
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
	_, err = a.DB.SQL.ExecContext(ctx, named("confirm_request").Text, id)
	found.State = LinkDone
	return found, err
}

// DeleteOldRequests deletes the requests that are past RequestRetention and returns how many. A job calls it.
func (a *API) DeleteOldRequests(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old_requests").Text, deleteBatch, RequestRetention.Seconds())
}
