package lifecycle

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/mail"
	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

const (
	// erasureWait is the time from the request to the erasure, so that a stolen token cannot erase an agent at once.
	erasureWait = bounds.ErasureWait
	// maxErasures is the limit of requests of an agent and its owner together within 24 hours, because each mails the owner.
	maxErasures = bounds.ErasureRequests
)

// Asker is who asked for an erasure.
type Asker = string

// The askers.
const (
	ByAgent Asker = "agent"
	ByOwner Asker = "owner"
)

// ErasureCard is the erasure of an agent (§12.7).
type ErasureCard struct {
	// State is pending, partial or done.
	State       string    `json:"state" db:"state"`
	RequestedBy Asker     `json:"requested_by" db:"requested_by"`
	RequestedAt time.Time `json:"requested_at" db:"requested_at"`
	DueAt       time.Time `json:"due_at" db:"due_at"`
	// HeldBy lists the reasons that hold up a due erasure: open_orders, reserved_funds, suspended.
	HeldBy []string `json:"held_by" db:"-"`
}

// ErasureResult is an erasure, as REST wraps it. A repeat returns the existing erasure.
type ErasureResult struct {
	wire.Repeat `json:"-"`

	Erasure *ErasureCard `json:"erasure"`
	// replayed: the existing erasure was asked for under the same operation id.
	replayed bool
}

// IsReplay is like IsReplay of wire.Replay.
func (r ErasureResult) IsReplay() bool { return r.replayed }

// ErasureCancelled is the answer of CancelErasure.
type ErasureCancelled struct {
	Cancelled bool `json:"cancelled"`
}

// erasureRow holds the columns of an erasure.
type erasureRow struct {
	ErasureCard

	ID   uuid.UUID      `db:"id"`
	Due  bool           `db:"due"`
	Held pq.StringArray `db:"held_by"`
}

func (r *erasureRow) card() *ErasureCard {
	r.HeldBy = r.Held
	return &r.ErasureCard
}

// ErasureInput asks for the erasure of the caller. A nil field was not sent.
type ErasureInput struct {
	OperationID   *string `json:"operation_id"`
	ConfirmHandle *string `json:"confirm_handle"`
}

// Check returns the id of the operation, or invalid_input naming every field that is wrong.
func (in ErasureInput) Check() (operation uuid.UUID, err error) {
	f := input.New()
	operation = f.ID("operation_id", in.OperationID)
	input.Require(f, "confirm_handle", in.ConfirmHandle)
	return operation, f.Fault(fault.InvalidInput)
}

// RequestErasure asks for the erasure of the caller (§12.7). At once its profile closes, which hides its services, its tasks,
// responses and offers end, and it takes on no new obligations. Its owner is mailed a link that cancels the erasure. Only an
// agent may call it, also one in the trash. Faults: invalid_input (also another handle than the caller's), state_conflict (a
// repeat of an operation that was cancelled), rate_limited (a fourth request within 24 hours).
func (a *API) RequestErasure(ctx context.Context, in ErasureInput) (*ErasureResult, error) {
	v, operation, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.requestErasure(ctx, v.BotID, uuid.NullUUID{UUID: operation, Valid: true}, in.ConfirmHandle, ByAgent)
}

// EraseForOwner is RequestErasure for an owner who has followed the link of a mail. Only package owners calls it.
func (a *API) EraseForOwner(ctx context.Context, botID uuid.UUID) (dueAt time.Time, err error) {
	found, err := a.requestErasure(ctx, botID, uuid.NullUUID{}, nil, ByOwner)
	if err != nil {
		return time.Time{}, err
	}
	return found.Erasure.DueAt, nil
}

func (a *API) requestErasure(ctx context.Context, botID uuid.UUID, operation uuid.NullUUID, handle *string, by Asker) (*ErasureResult, error) {
	result, err := db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ErasureResult, error) {
		if err := bots.Lock(ctx, tx, botID); err != nil {
			return nil, err
		}
		found, err := db.One[struct {
			Handle    string  `db:"handle"`
			Known     bool    `db:"known"`
			Cancelled bool    `db:"cancelled"`
			Asked     int64   `db:"asked"`
			Wait      float64 `db:"wait_seconds"`
		}](ctx, tx.SQL, named("judge_erasure"), botID, operation)
		if err != nil {
			return nil, err
		}
		if handle != nil && *handle != found.Handle {
			return nil, fault.Field(fault.InvalidInput, "confirm_handle", "must be your own handle, as a sign that you mean it")
		}
		current, err := db.Find[erasureRow](ctx, tx.SQL, named("select_erasure"), botID)
		if current != nil && by == ByOwner {
			current.RequestedBy = by // now the agent, whose token a thief may have, cannot cancel it
			err = db.Exec(ctx, tx.SQL, named("take_over_erasure"), current.ID, by)
		}
		switch {
		case err != nil:
			return nil, err
		case current != nil:
			return &ErasureResult{Repeat: wire.Repeat{Repeated: true}, Erasure: current.card(), replayed: found.Known}, nil
		case found.Cancelled:
			return nil, fault.New(fault.StateConflict).Say("This request was cancelled. Ask with another operation_id if you mean it again.")
		case found.Asked >= maxErasures:
			return nil, fault.New(fault.RateLimited).Say("An erasure can be asked for three times within 24 hours.").
				After(limits.Seconds(found.Wait))
		}
		return a.beginErasure(ctx, tx, botID, operation, by)
	})
	if err != nil || result.Repeated {
		return result, err
	}
	return result, a.endOffers(ctx, botID) // the job ends the rest
}

// beginErasure writes a request, hides the agent and mails its owner. The agent is locked.
func (a *API) beginErasure(ctx context.Context, tx *db.Tx, botID uuid.UUID, operation uuid.NullUUID, by Asker) (*ErasureResult, error) {
	id := uuid.Must(uuid.NewV7())
	if err := db.Exec(ctx, tx.SQL, named("insert_erasure"), id, botID, operation, by, erasureWait.Seconds()); err != nil {
		return nil, err
	}
	if err := db.Exec(ctx, tx.SQL, named("begin_leaving"), botID); err != nil {
		return nil, err
	}
	if err := a.Deleted(ctx, tx, botID); err != nil {
		return nil, err
	}
	if err := a.ProfileChanged(ctx, tx, botID); err != nil {
		return nil, err
	}
	made, err := db.One[erasureRow](ctx, tx.SQL, named("select_erasure"), botID)
	if err != nil {
		return nil, err
	}
	result := &ErasureResult{Erasure: made.card()}
	owner, err := db.Find[owned](ctx, tx.SQL, named("owner_address"), botID)
	if err != nil || owner == nil || !a.SendsMail {
		return result, err
	}
	_, err = a.Email.Enqueue(ctx, tx, email.Mail{
		Kind: mail.KindErasureNotice, To: owner.Written, BotID: &botID, Reference: &id, ExpiresAt: &made.DueAt,
	})
	return result, err
}

// owned holds the address of an agent's owner, in its normal form and as the owner wrote it.
type owned struct {
	Address string `db:"address"`
	Written string `db:"written"`
}

// Erasure returns the caller's erasure (§12.7). Only an agent may call it. Faults: not_found.
func (a *API) Erasure(ctx context.Context) (*ErasureResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	found, err := requested(ctx, a.DB.SQL, v.BotID)
	if err != nil {
		return nil, err
	}
	return &ErasureResult{Erasure: found.card()}, nil
}

// requested returns the erasure of an agent, or not_found.
func requested(ctx context.Context, q db.Querier, botID uuid.UUID) (*erasureRow, error) {
	found, err := db.Find[erasureRow](ctx, q, named("select_erasure"), botID)
	if err == nil && found == nil {
		err = fault.New(fault.NotFound).Say("No erasure was asked for.")
	}
	return found, err
}

// cancel cancels the erasure of an agent, which is locked.
func (a *API) cancel(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	if err := db.Exec(ctx, tx.SQL, named("cancel_erasure"), botID); err != nil {
		return err
	}
	return a.ProfileChanged(ctx, tx, botID)
}

// CancelErasure cancels the caller's erasure, until it is due. If the profile was public before, it and its services are public
// again; ended tasks, offers and responses stay ended. Only an agent may call it. Faults: not_found, forbidden (the owner asked,
// and only the owner cancels), state_conflict (it is due).
func (a *API) CancelErasure(ctx context.Context) (*ErasureCancelled, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := bots.Lock(ctx, tx, v.BotID); err != nil {
			return err
		}
		found, err := requested(ctx, tx.SQL, v.BotID)
		switch {
		case err != nil:
			return err
		case found.RequestedBy == ByOwner:
			return fault.New(fault.Forbidden).Say("Your owner asked for the erasure. The link in the mail to your owner cancels it.")
		case found.Due:
			return fault.New(fault.StateConflict).Say("The erasure is due and cannot be cancelled any more.")
		}
		return a.cancel(ctx, tx, v.BotID)
	})
	if err != nil {
		return nil, err
	}
	return &ErasureCancelled{true}, nil
}

// CancelPage holds the data of the page on which an owner cancels an erasure.
type CancelPage struct {
	// State is open, cancelled, due (it is too late), or unknown; then the other fields are empty.
	State  string    `db:"state"`
	BotID  uuid.UUID `db:"bot_id"`
	Handle string    `db:"handle"`
	DueAt  time.Time `db:"due_at"`
}

// CancelPage returns the data for the link in the mail about an erasure. It changes nothing. Anyone with the link may call it.
func (a *API) CancelPage(ctx context.Context, id uuid.UUID, token string) (*CancelPage, error) {
	return a.cancelPage(ctx, a.DB.SQL, id, token)
}

func (a *API) cancelPage(ctx context.Context, q db.Querier, id uuid.UUID, token string) (*CancelPage, error) {
	unknown := &CancelPage{State: "unknown"}
	if !a.Email.Follows(email.KeepLink, id, token) {
		return unknown, nil
	}
	found, err := db.Find[CancelPage](ctx, q, named("select_by_link"), id)
	return cmp.Or(found, unknown), err
}

// CancelByLink cancels an erasure that the agent or the owner asked for, until it is due. A repeat changes nothing. Anyone who
// has the link may call it.
func (a *API) CancelByLink(ctx context.Context, id uuid.UUID, token string) (found *CancelPage, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if found, err = a.cancelPage(ctx, tx.SQL, id, token); err != nil || found.State != "open" {
			return err
		}
		if err := bots.Lock(ctx, tx, found.BotID); err != nil {
			return err
		}
		if found, err = a.cancelPage(ctx, tx.SQL, id, token); err != nil || found.State != "open" {
			return err
		}
		found.State = "cancelled"
		return a.cancel(ctx, tx, found.BotID)
	})
	return found, err
}
