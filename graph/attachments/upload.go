package attachments

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

const (
	// firstPoll and lastPoll bound the time between two checks whether the inspection has ended; it grows.
	firstPoll = 10 * time.Millisecond
	lastPoll  = 50 * time.Millisecond
	// unfinishedRetry is the Retry-After of a repeat while the upload is being inspected.
	unfinishedRetry = 5 * time.Second
	// maxFileName in characters.
	maxFileName = bounds.FileName
)

// inspectionWait is how long an upload waits for its inspection (§4.8).
var inspectionWait = slack.Of(30 * time.Second)

// UploadInput is the form of an upload (§4.8). A nil field was not sent.
type UploadInput struct {
	File     *Draft
	FileName *string
	Purpose  *string
	UploadID *string
}

// UploadResult is a ready file.
type UploadResult struct {
	wire.Replay
	// Bound reports that the file of an earlier upload is in use; REST sends Attachment-Bound for it (§4.8).
	Bound      bool  `json:"-"`
	Attachment *Card `json:"attachment"`
}

// UploadAttachment stores a file, which is ready after its inspection (§4.8). Only an agent may call it. Faults: invalid_fields,
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
	defer in.File.write(0)() // the whole body has arrived
	// From here on a repeated or refused upload does not use the store.
	bounded, cancel := db.Bounded(ctx, db.RequestTimeout)
	earlier, err := a.checkUpload(bounded, a.DB.SQL, in.File.reservation, f, false)
	cancel()
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		return repeated(earlier), nil
	}
	if err := in.File.commit(); err != nil {
		return nil, err
	}
	if earlier, err = a.record(ctx, in.File.reservation, f); err != nil {
		return nil, err
	}
	if earlier != nil {
		return repeated(earlier), nil
	}
	in.File.recorded = true
	return a.wait(ctx, in.File.reservation.id)
}

func repeated(r *row) *UploadResult {
	return &UploadResult{Replay: wire.Replayed(), Bound: r.BoundID != nil, Attachment: newCard(r, ofOwner)}
}

// form is a checked UploadInput. The same bytes, name and purpose under the same upload_id are the same upload.
type form struct {
	uploadID uuid.UUID
	purpose  Purpose
	fileName string
	size     int64
	sha256   []byte
	// reserve is the amount taken from the budgets until the sizes of preview and public copy are known.
	reserve int64
}

var (
	errPart    = errors.New("must be sent exactly once")
	errPurpose = errors.New("must be avatar, character, portfolio or order")
)

// Check returns invalid_fields naming every part that is wrong.
func (in UploadInput) Check() (form, error) {
	wrong := fault.Fields{}
	var (
		f   form
		err error
	)
	if in.File == nil || in.FileName == nil {
		wrong.Add("file", errPart)
	} else {
		f.size, f.sha256, f.reserve = in.File.size, in.File.hash.Sum(nil), in.File.estimate(in.Purpose)
		if f.fileName, err = text.Line(*in.FileName, 1, maxFileName); err != nil {
			wrong.Add("file", errors.New("its name "+err.Error()))
		}
	}
	if in.Purpose == nil {
		wrong.Add("purpose", errPart)
	} else {
		f.purpose = Purpose(*in.Purpose)
		if attachment.PurposeValidator(f.purpose) != nil {
			wrong.Add("purpose", errPurpose)
		}
	}
	if in.UploadID == nil {
		wrong.Add("upload_id", errPart)
	} else {
		f.uploadID, err = text.UUID(*in.UploadID)
		wrong.Add("upload_id", err)
	}
	return f, wrong.Fault(fault.InvalidFields)
}

// checkUpload decides about a received upload: it returns the record of the earlier upload that it repeats, a fault, or neither
// for a new one. If the queue is full, an agent without waiting uploads displaces the youngest upload of an agent with several.
// With locked, the displaced upload is deleted.
func (a *API) checkUpload(ctx context.Context, q db.Querier, r *reservation, f form, locked bool) (earlier *row, err error) {
	earlier, err = db.One[row](ctx, q, named("find_upload"), r.owner, f.uploadID)
	switch {
	case err == nil:
		return earlier, earlier.checkRepeat(f)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case r.refused != nil:
		return nil, r.refused
	}
	u, err := db.One[usage](ctx, q, named("read_usage"), everyone, r.owner, r.id)
	if err != nil {
		return nil, err
	}
	if err := u.checkTime(a.Quotas); err != nil {
		return nil, err
	}
	err = u.check(a.Quotas, demand{records: 1, files: 1, bytes: f.reserve, inspections: 1})
	if !errors.Is(err, fault.New(fault.UploadBusy)) || u.Waiting+u.Inspecting > 0 {
		return nil, err
	}
	if !locked {
		return nil, nil
	}
	displaced, failed := db.Column[uuid.UUID](ctx, q, named("displace_inspection"), r.owner, leaseTime.Seconds())
	if failed != nil || len(displaced) == 0 {
		return nil, cmp.Or(failed, err)
	}
	return nil, nil
}

// checkRepeat returns the fault of an upload under the same upload_id, or nil if this record is its answer.
func (r *row) checkRepeat(f form) error {
	same := bytes.Equal(r.SHA256, f.sha256) && r.FileName == f.fileName && r.Purpose == f.purpose
	switch {
	case r.Status == attachment.StatusRejected:
		return fault.Field(fault.UploadUnavailable, "upload_id", "rejected")
	case !same:
		return fault.New(fault.IdempotencyConflict)
	case r.Status == attachment.StatusPending:
		return fault.Field(fault.UploadUnavailable, "upload_id", "unfinished").After(unfinishedRetry)
	default:
		return nil
	}
}

// record replaces the reservation of an upload by its record and requests its inspection, unless checkUpload returns a fault or
// an earlier record.
func (a *API) record(ctx context.Context, held *reservation, f form) (earlier *row, err error) {
	err = a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		if earlier, err = a.checkUpload(ctx, tx.SQL, held, f, true); err != nil || earlier != nil {
			return err
		}
		if err := changeReservation(ctx, tx, named("delete_reservation"), held.id); err != nil {
			return err
		}
		err := db.Exec(ctx, tx.SQL, named("insert_upload"), held.id, held.owner, f.uploadID, f.purpose, f.fileName, f.size,
			f.sha256, f.reserve)
		if err != nil {
			return err
		}
		return a.Enqueue(ctx, tx, InspectJob{AttachmentID: held.id})
	})
	return earlier, err
}

// wait returns the result of an upload's inspection: its card, invalid_file, or a fault of recorded. It also returns upload_busy
// if the inspection takes too long or the process shuts down; the inspection then goes on, as it does if ctx ends.
func (a *API) wait(ctx context.Context, id uuid.UUID) (*UploadResult, error) {
	timeout := time.After(cmp.Or(a.InspectionWait, inspectionWait))
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		r, err := a.recorded(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case r.Status == attachment.StatusReady:
			return &UploadResult{Attachment: newCard(r, ofOwner)}, nil
		case r.Status == attachment.StatusRejected:
			rejected := fault.New(fault.InvalidFile)
			if r.Rejection != nil {
				rejected = rejected.Say(*r.Rejection)
			}
			return nil, rejected
		}
		select {
		case <-time.After(poll):
		case <-timeout:
			return nil, fault.New(fault.UploadBusy).Say("The inspection takes long and goes on; repeat the upload later.")
		case <-a.ShutdownSoon:
			return nil, fault.New(fault.UploadBusy).Say("The server shuts down; the inspection goes on later, so repeat the upload then.")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// recorded returns the record of an upload. If it was deleted: upload_busy if it made room before its inspection,
// storage_quota_exceeded if there was no room for its preview and copy, else service_unavailable.
func (a *API) recorded(ctx context.Context, id uuid.UUID) (*row, error) {
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	r, err := db.One[readRow](ctx, a.DB.SQL, named("read_attachment"), id, uuid.Nil)
	if err == nil {
		return &r.row, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	large, err := db.Column[bool](ctx, a.DB.SQL, named("why_deleted"), id)
	switch {
	case err != nil:
		return nil, err
	case len(large) == 0:
		return nil, fault.New(fault.ServiceUnavailable).Say("The file could not be inspected; send the same upload again.")
	case large[0]:
		return nil, fault.New(fault.StorageQuotaExceeded).Say("Its preview and its copy for others do not fit into the storage budget.")
	default:
		return nil, fault.New(fault.UploadBusy).Say("Files of other agents came before this one; send the same upload again.")
	}
}
