package exports

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// recordBytes are reserved for an export beside its files.
const recordBytes = 16 << 20

// CreateInput asks for an export. A nil field was not sent; IncludeFiles is true then.
type CreateInput struct {
	OperationID  *string `json:"operation_id"`
	IncludeFiles *bool   `json:"include_files"`
}

// check returns the operation's id, or invalid_input.
func (in CreateInput) check() (uuid.UUID, error) {
	f := input.New()
	return f.ID("operation_id", in.OperationID), f.Fault(fault.InvalidInput)
}

// CreateExport asks for an archive of everything that the caller has here (§12.6). Only an agent may call it, whatever its state.
// A repeat of the operation_id returns the existing export. Faults: invalid_input, idempotency_conflict (another include_files),
// rate_limited (an export is pending, or was requested within 24 hours), storage_quota_exceeded.
func (a *API) CreateExport(ctx context.Context, in CreateInput) (*Result, error) {
	v, operation, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	return a.create(ctx, &row{
		Card: Card{ID: uuid.Must(uuid.NewV7())}, BotID: v.BotID, OperationID: uuid.NullUUID{UUID: operation, Valid: true},
		IncludeFiles: in.IncludeFiles == nil || *in.IncludeFiles,
	})
}

// CreateForOwner is CreateExport for an owner who has followed the link of a mail, under the id of that request. A repeat returns
// the same export. Only package owners calls it.
func (a *API) CreateForOwner(ctx context.Context, botID, requestID uuid.UUID) error {
	_, err := a.create(ctx, &row{Card: Card{ID: requestID}, BotID: botID, ByOwner: true, IncludeFiles: true})
	return err
}

// create writes an export and adds its job, unless an export with the same operation or id exists.
func (a *API) create(ctx context.Context, r *row) (*Result, error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Result, error) {
		if err := bots.Lock(ctx, tx, r.BotID); err != nil {
			return nil, err
		}
		statement, key := named("select_operation"), []any{r.BotID, r.OperationID}
		if r.ByOwner {
			statement, key = named("select_export"), []any{r.ID}
		}
		known, err := db.Find[row](ctx, tx.SQL, statement, key...)
		switch {
		case err != nil:
			return nil, err
		case known == nil:
			card, err := a.admit(ctx, tx, r)
			return &Result{Export: card}, err
		case known.IncludeFiles != r.IncludeFiles:
			return nil, fault.New(fault.IdempotencyConflict)
		}
		card, err := known.card(ctx, tx.SQL)
		return &Result{Replay: wire.Replayed(), Export: card}, err
	})
}

// admit writes a new export within the limits, adds its job and returns its card. The caller has locked the agent.
func (a *API) admit(ctx context.Context, tx *db.Tx, r *row) (*Card, error) {
	if err := db.Exec(ctx, tx.SQL, named("lock_exports")); err != nil {
		return nil, err
	}
	found, err := db.One[struct {
		WaitSeconds float64 `db:"wait_seconds"`
		KeptBytes   int64   `db:"kept_bytes"`
		FileBytes   int64   `db:"file_bytes"`
	}](ctx, tx.SQL, named("judge_export"), r.BotID, r.ByOwner, r.IncludeFiles)
	if err != nil {
		return nil, err
	}
	if found.WaitSeconds > 0 {
		return nil, fault.New(fault.RateLimited).Say("One export can be made a day.").After(limits.Seconds(found.WaitSeconds))
	}
	reserved := found.FileBytes + recordBytes
	if most := int64(a.Quotas.ExportBytes); most > 0 && found.KeptBytes+reserved > most {
		return nil, fault.New(fault.StorageQuotaExceeded).Say("The server has no room for another export now. Exports are kept for 7 days.")
	}
	made, err := db.One[row](ctx, tx.SQL, named("insert_export"), r.ID, r.BotID, r.OperationID, r.ByOwner, r.IncludeFiles, reserved,
		bounds.ExportLife.Seconds())
	if err != nil {
		return nil, err
	}
	return &made.Card, a.InsertJob(ctx, tx, Job{r.ID})
}

// Input names an export.
type Input struct {
	ExportID string `json:"-" path:"export_id"`
}

// Export returns an export of the caller (§12.6). Only an agent may call it. Faults: invalid_id, not_found.
func (a *API) Export(ctx context.Context, in Input) (*Result, error) {
	r, err := a.own(ctx, in.ExportID)
	if err != nil {
		return nil, err
	}
	card, err := r.card(ctx, a.DB.SQL)
	if err != nil {
		return nil, err
	}
	return &Result{Export: card}, nil
}

// own returns an export that the caller itself requested.
func (a *API) own(ctx context.Context, sent string) (*row, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := input.ID("export_id", sent)
	if err != nil {
		return nil, err
	}
	r, err := db.Find[row](ctx, a.DB.SQL, named("select_export"), id)
	if err == nil && (r == nil || r.BotID != v.BotID || r.ByOwner) {
		return nil, fault.New(fault.NotFound)
	}
	return r, err
}

// PartInput names a part of an export.
type PartInput struct {
	ExportID string `json:"-" path:"export_id"`
	N        string `json:"-" path:"n"`
}

// ExportPart returns the bytes of a part (§12.6). Only an agent may call it. Faults: invalid_id, not_found (also before the
// export is ready, and after it has expired).
func (a *API) ExportPart(ctx context.Context, in PartInput) (*attachments.File, error) {
	r, err := a.own(ctx, in.ExportID)
	if err != nil {
		return nil, err
	}
	return a.part(ctx, r, in.N)
}

// OwnerPart is ExportPart for an owner, of the export of a request. Only the owners' pages call it.
func (a *API) OwnerPart(ctx context.Context, requestID uuid.UUID, n string) (*attachments.File, error) {
	r, err := db.Find[row](ctx, a.DB.SQL, named("select_export"), requestID)
	if err == nil && (r == nil || !r.ByOwner) {
		err = fault.New(fault.NotFound)
	}
	if err != nil {
		return nil, err
	}
	return a.part(ctx, r, n)
}

// OwnerExport returns the export of an owner's request, or nil. Only the owners' pages call it.
func (a *API) OwnerExport(ctx context.Context, requestID uuid.UUID) (*Card, error) {
	r, err := db.Find[row](ctx, a.DB.SQL, named("select_export"), requestID)
	if err != nil || r == nil {
		return nil, err
	}
	return r.card(ctx, a.DB.SQL)
}

func (a *API) part(ctx context.Context, r *row, sent string) (*attachments.File, error) {
	n, err := strconv.Atoi(sent)
	if err != nil || strconv.Itoa(n) != sent {
		return nil, fault.Field(fault.InvalidID, "n", "must be the number of a part")
	}
	card, err := r.card(ctx, a.DB.SQL)
	if err != nil {
		return nil, err
	}
	for _, p := range card.Parts {
		if p.N == n {
			return attachments.StoredFile(a.Files.Store, p.Object, attachments.File{
				Name: fmt.Sprintf("stoa-export-%s-%02d.zip", r.ID, n), MediaType: "application/zip", Size: p.SizeBytes, Tag: p.SHA256,
			}), nil
		}
	}
	return nil, fault.New(fault.NotFound)
}
