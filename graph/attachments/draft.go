package attachments

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"image"
	_ "image/jpeg" // for image.DecodeConfig
	_ "image/png"  // for image.DecodeConfig
	"io"
	"sync"
	"time"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

const (
	// MaxFile is the maximum size of a file in bytes (§8).
	MaxFile = bounds.File
	// maxPreview is the largest size of a preview: a JPEG of 1024 × 1024 noisy pixels.
	maxPreview = 1 << 20
	// headSize is the number of bytes from which the dimensions of an image are read.
	headSize = 64 << 10
	// minPace is the minimum rate in bytes per second while places are scarce (§8), checked every paceInterval.
	minPace      = 32 << 10
	paceInterval = 2 * time.Second
)

// Draft is a file that is being received into the store. It holds a reservation (upload_reservations) and keeps nothing of the
// file in memory but its head. It is not safe for concurrent use and must be discarded in the end, also after a failure.
type Draft struct {
	api         *API
	reservation *reservation
	// ctx ends with the request, and when the reservation cannot be renewed; stop ends the renewal.
	ctx    context.Context //nolint:containedctx // a draft is a part of one request
	stop   func()
	writer io.WriteCloser
	cancel context.CancelFunc // of writer
	hash   hash.Hash
	size   int64
	head   []byte
	// opened is true if bytes may be in the store, recorded if they belong to a record.
	opened, recorded bool
	mu               sync.Mutex
	// came counts the bytes since that time, busy is the time in which the server did not wait for the client; writing is true
	// while it does not wait.
	since   time.Time
	came    int
	busy    time.Duration
	writing bool
	// failed is the first error of the store. It is returned only if the upload is not a repeat, because a repeat needs no store.
	failed error
}

// NewDraft begins an upload of the calling agent before its first byte is read. announced bounds the bytes of the file; it is
// negative if unknown. The bytes are reserved from the budgets (§8), in steps if announced is unknown, so the stored bytes never
// exceed the budgets. It returns upload_busy if the maximum number of uploads is under way.
func (a *API) NewDraft(ctx context.Context, announced int64) (*Draft, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	held, err := a.reserve(ctx, v.BotID, min(max(announced, 0), MaxFile))
	if err != nil {
		return nil, err
	}
	d := &Draft{api: a, reservation: held, hash: sha256.New(), since: time.Now()}
	d.ctx, d.stop = a.renew(ctx, paceInterval, named("renew_reservation"), func() []any { return []any{held.id, d.isSlow()} })
	return d, nil
}

// isSlow reports whether the client sent less than minPace since the last call, counting only the time in which the server waited
// for it.
func (d *Draft) isSlow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	waited := time.Since(d.since) - d.busy
	slow := !d.writing && float64(d.came) < minPace*waited.Seconds()
	d.since, d.busy, d.came = time.Now(), 0, 0
	return slow
}

// write marks that the server is busy with the file and does not wait for the client, until the returned function is called.
func (d *Draft) write(bytes int) (done func()) {
	began := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writing, d.came = true, d.came+bytes
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.writing, d.busy = false, d.busy+min(time.Since(began), time.Since(d.since))
	}
}

// WhenTaken calls interrupt when the upload loses its reservation, unless stop is called before. Taken then returns the fault.
func (d *Draft) WhenTaken(interrupt func()) (stop func() bool) {
	return context.AfterFunc(d.ctx, interrupt)
}

// Taken returns upload_busy if the upload has lost its place to another agent, service_unavailable if its reservation could not
// be renewed, else nil.
func (d *Draft) Taken() error {
	switch cause := context.Cause(d.ctx); {
	case errors.Is(cause, errTaken):
		return fault.New(fault.UploadBusy).Say("Others wait for the place of this upload: it was slower than 32 KiB a second, or one " +
			"of more than two of its agent. Send it again.")
	case errors.Is(cause, errUnrenewed):
		return errReservationLost()
	}
	return nil
}

// Write takes the next bytes of the file. It returns payload_too_large if the file exceeds MaxFile. A file that the budgets or
// the store refuse is only measured and hashed, and UploadAttachment returns the fault.
func (d *Draft) Write(p []byte) (int, error) {
	if d.size+int64(len(p)) > MaxFile {
		return 0, fault.New(fault.PayloadTooLarge).Say("A file may have at most " + bounds.Size(bounds.File) + ".")
	}
	defer d.write(len(p))()
	d.size += int64(len(p))
	d.hash.Write(p)
	d.head = append(d.head, p[:min(len(p), headSize-len(d.head))]...)
	if d.failed == nil && d.reservation.refused == nil {
		d.failed = d.store(p)
	}
	return len(p), nil
}

// store writes bytes, and reserves them first if necessary.
func (d *Draft) store(p []byte) error {
	if need := d.size - d.reservation.bytes; need > 0 {
		if err := d.api.extend(d.ctx, d.reservation, need); err != nil {
			return err
		}
	}
	if d.reservation.refused != nil {
		d.cancelWrite() // it keeps its place among the uploads under way
		return db.Exec(d.ctx, d.api.DB.SQL, named("empty_reservation"), d.reservation.id)
	}
	if err := d.open(); err != nil {
		return err
	}
	_, err := d.writer.Write(p)
	return err
}

// open opens the writer once there is something to write, so that a form without a file touches no store.
func (d *Draft) open() (err error) {
	if d.writer != nil {
		return nil
	}
	if d.ctx.Err() != nil {
		return cmp.Or(d.Taken(), errReservationLost())
	}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(d.ctx)
	d.opened = true
	d.writer, err = d.api.Store.NewWriter(ctx, originalKey(d.reservation.id), writerOptions())
	return err
}

// cancelWrite deletes bytes that were written and not committed.
func (d *Draft) cancelWrite() {
	if d.cancel != nil {
		d.cancel()
	}
	if d.writer != nil {
		_ = d.writer.Close() // it returns the error of the cancelled context
		d.writer = nil
	}
}

// commit makes the bytes durable. It returns service_unavailable if the store fails, or upload_busy if the upload has lost its
// place.
func (d *Draft) commit() error {
	if d.failed == nil {
		d.failed = d.open()
	}
	if d.failed == nil {
		d.failed = d.writer.Close()
		d.writer = nil
	}
	if taken := d.Taken(); d.failed != nil && taken != nil {
		return taken
	}
	if d.failed != nil {
		return fault.Wrap(fault.ServiceUnavailable, d.failed).Say("The file cannot be stored at the moment.")
	}
	return nil
}

// Discard ends the draft. If it has no record, its bytes are deleted and its reservation is released.
func (d *Draft) Discard() {
	d.stop()
	d.cancelWrite()
	switch {
	case d.recorded:
	case d.opened:
		cleanUp(d.ctx, func(ctx context.Context) error { return d.api.release(ctx, d.reservation.id, false) })
	default:
		cleanUp(d.ctx, func(ctx context.Context) error {
			return db.Exec(ctx, d.api.DB.SQL, named("delete_reservation"), d.reservation.id)
		})
	}
}

// estimate returns the estimated bytes of the original, its preview and, unless it is for an order, its public copy. A small
// image, by its head, has a small preview. This is only an estimate: accept checks the budgets again with the real sizes.
func (d *Draft) estimate(purpose *string) int64 {
	room, published := int64(maxPreview), d.size
	if purpose == nil || *purpose == string(Order) {
		published = 0
	}
	if shape, format, err := image.DecodeConfig(bytes.NewReader(d.head)); err == nil {
		if format == "jpeg" && max(shape.Width, shape.Height) <= maxPreviewSide {
			published = 0 // its preview is its copy
		}
		const headers, perPixel = 4 << 10, 3
		pixels := int64(min(shape.Width, 1024)) * int64(min(shape.Height, 1024))
		room = min(room, headers+perPixel*pixels)
	}
	return d.size + room + published
}
