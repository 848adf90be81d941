package attachments

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// patience is how long an upload waits for its verdict (contract §7), and glance how often it looks whether another process
// has reached it.
const (
	patience = 30 * time.Second
	glance   = 100 * time.Millisecond
)

// UploadResult is a ready file.
type UploadResult struct {
	wire.Repeat
	Attachment *Card `json:"attachment"`
}

// UploadAttachment keeps a file once it has been inspected (§4.8). Only an agent may call it. Faults: invalid_fields,
// invalid_file, idempotency_conflict, upload_unavailable, upload_busy, storage_quota_exceeded, storage_record_limit, and
// service_unavailable for a file store that cannot write or a file whose inspection crashed: the same upload may be sent again.
func (a *API) UploadAttachment(ctx context.Context, in UploadInput) (*UploadResult, error) {
	if _, err := viewer.RequireAgent(ctx); err != nil {
		return nil, err
	}
	f, err := in.Check()
	if err != nil {
		return nil, err
	}
	// Repeats and refusals that are known already take nothing more from the store.
	bounded, cancel := db.Bounded(ctx, db.RequestTimeout)
	earlier, err := a.admit(bounded, a.DB.SQL, in.File.held, f)
	cancel()
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		return repeated(earlier), nil
	}
	if err := in.File.keep(); err != nil {
		return nil, err
	}
	id := in.File.held.id
	verdict := a.expect(id)
	defer a.decided.Delete(id)
	if earlier, err = a.enter(ctx, in.File.held, f); err != nil {
		return nil, err
	}
	if earlier != nil {
		return repeated(earlier), nil
	}
	in.File.settled = true
	return a.await(ctx, id, verdict)
}

func repeated(r *record) *UploadResult {
	return &UploadResult{Repeat: wire.Repeat{Repeated: true}, Attachment: newCard(r, ofOwner)}
}

const insert = `
INSERT INTO attachments (id, created_at, owner_id, upload_id, purpose, file_name, size_bytes, sha256, reserved_bytes, queued_at)
VALUES ($1, stoa_now(), $2, $3, $4, $5, $6, $7, $8, stoa_now())`

// enter makes the record of an upload in place of its reservation, and asks for its inspection, unless admit says otherwise.
func (a *API) enter(ctx context.Context, held *reservation, f form) (earlier *record, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		if earlier, err = a.admit(ctx, tx.SQL, held, f); err != nil || earlier != nil {
			return err
		}
		if err := settle(ctx, tx, held.id); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, insert, held.id, held.owner, f.uploadID, f.purpose, f.fileName, f.size, f.sum, f.reserve)
		if err != nil {
			return err
		}
		return a.Enqueue(ctx, tx, InspectJob{AttachmentID: held.id})
	})
	return earlier, err
}

const readOutcome = `SELECT ` + columns + ` FROM attachments a WHERE a.id = $1`

// await returns the verdict on an upload: its card, invalid_file, or service_unavailable where the record has gone.
// upload_busy where patience ends first, or the process shuts down; the inspection goes on without this request, as it does when ctx
// ends.
func (a *API) await(ctx context.Context, id uuid.UUID, verdict <-chan struct{}) (*UploadResult, error) {
	timeout := time.NewTimer(cmp.Or(a.Patience, patience))
	defer timeout.Stop()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		r := new(record)
		bounded, cancel := db.Bounded(ctx, db.RequestTimeout)
		err := a.DB.SQL.QueryRowContext(bounded, readOutcome, id).Scan(r.targets()...)
		cancel()
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil, fault.New(fault.ServiceUnavailable).Say("The file could not be inspected; send the same upload again.")
		case err != nil:
			return nil, err
		case r.Status == attachment.StatusReady:
			return &UploadResult{Attachment: newCard(r, ofOwner)}, nil
		case r.Status == attachment.StatusRejected:
			return nil, refusal(r)
		}
		select {
		case <-verdict:
			verdict = nil
		case <-tick.C:
		case <-timeout.C:
			return nil, fault.New(fault.UploadBusy).Say("The inspection takes long and goes on; repeat the upload later.")
		case <-a.Hurry:
			return nil, fault.New(fault.UploadBusy).Say("The server shuts down; the inspection goes on later, so repeat the upload then.")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func refusal(r *record) error {
	refused := fault.New(fault.InvalidFile)
	if r.Rejection != nil {
		refused = refused.Say(*r.Rejection)
	}
	return refused
}

// expect returns a channel that announce closes.
func (a *API) expect(id uuid.UUID) <-chan struct{} {
	verdict := make(chan struct{})
	a.decided.Store(id, verdict)
	return verdict
}

// announce ends the wait of an upload of this process.
func (a *API) announce(id uuid.UUID) {
	if verdict, waited := a.decided.LoadAndDelete(id); waited {
		close(verdict.(chan struct{})) //nolint:forcetypeassert // expect stores nothing else
	}
}
