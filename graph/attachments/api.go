// Package attachments implements files: uploads, their inspection, read rights, budgets, and the deletion of bytes (§2.7, §4.8,
// §8).
//
// An upload reserves its announced size before its first byte arrives, or reserves in steps if the size is not known (quota.go).
// So the stored bytes never exceed a budget. An upload that a budget refuses is read but not stored, since the faults of the form
// and the answer to a repeat come first (§1.6). The reservation is renewed while the upload is received and ends with it; when
// its process dies, Recover deletes the bytes and then the reservation.
//
// The record of an upload stays for ever. Its bytes are in the file store under the record's id and are deleted when no longer
// needed. The record replaces the reservation, in the transaction that asks for the inspection, and only when the bytes are
// durable. It is pending until the inspection makes it ready or rejected, which is final. A failing store or machine or a crashed
// inspection does not reject a file: after three attempts the record is deleted, and the same upload may be sent again.
//
// Budgets, places of uploads under way and inspection slots hold across processes. All are given out under one lock, the row of
// storage_usage that counts all agents; a trigger keeps the counts in step with the records. An inspection holds a lease that it
// renews (lease.go); when its process dies, the lease expires and Recover asks for the inspection again. While the database is
// unavailable, the result of an inspection is kept and written as soon as it is back.
//
// One statement (read_attachment) decides for each request who may read a file; knowing a URL grants no right.
//
// Everyone but the owner and an order's participants downloads a public copy, in the format of the original. The inspection of an
// upload that may become public makes it, so it counts towards the budgets from then on, and publishing does not wait. If a JPEG
// is no larger than its preview, the preview is the public copy.
package attachments

import (
	"embed"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed attachments.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Store keeps the bytes.
	Store *Store
	// Enqueue asks for inspections.
	Enqueue db.Enqueue
	// InspectionWait is how long an upload waits for its inspection; 0 means the 30 s of §4.8.
	InspectionWait time.Duration
	// DrawPage draws pages of PDFs at the request of readers; nil in a process that cannot.
	DrawPage PageDrawer
	// ShutdownSoon is closed when requests must not wait any longer, because the process shuts down; nil for never.
	ShutdownSoon <-chan struct{}

	waiting sync.Map // the uploads that wait in this process: id -> chan struct{}, closed when the inspection has ended
}

// InspectJob asks for the inspection of one upload.
type InspectJob struct {
	AttachmentID uuid.UUID `json:"attachment_id"`
}

func (InspectJob) Kind() string { return "inspect" }
