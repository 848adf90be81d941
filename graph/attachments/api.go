// Package attachments is files: uploads and their inspection, who may read what, budgets, and the end of bytes (§2.7, §4.8, §8).
//
// An upload begins with a reservation (reservation.go), before its first byte: of its announced size, or step by step where that
// is not known. So what is stored never exceeds a budget, and what a budget refuses is read but not stored, since the faults of
// the form and the answer to a repeat come first (contract §1). The reservation is renewed while the upload is being received,
// and ends with it; when its process dies, Recover deletes the bytes and then the reservation.
//
// The record of an upload stays for ever; its bytes are in the file store under the record's id and do not. The record replaces
// the reservation, in the transaction that reserves room for the preview and asks for the inspection, and only when the bytes
// are durable. It begins pending; the verdict makes it ready or rejected and is final. Only a verdict of the inspector rejects.
// A file store or machine that fails, or an inspection that crashes, is no verdict: after three attempts the record is deleted,
// and the same upload may be sent again.
//
// Budgets, the places of uploads under way and inspection slots hold across processes. All are given out under one lock, the row
// of storage_usage that counts all agents; a trigger keeps the counts in step with the records. An inspection holds a lease that
// it renews; when its process dies, the lease expires, its slot is free, and Recover asks for the inspection again. While the
// database is away a verdict is held on to, and what is given back is tried again until it succeeds or has expired.
//
// Reading is decided per request by one predicate (visible.go); nothing about a URL grants anything.
//
// Others than the owner download a public copy. It is made when the first of them asks for it (copies.go), once whatever the
// number of processes, in an inspection slot (publish.go); it counts towards the budgets and lives as long as the file. Of an
// image no larger than its preview the preview is the public copy, and so it is where the budgets have no room for another.
package attachments

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Store keeps the bytes.
	Store *blob.Bucket
	// Enqueue asks for inspections.
	Enqueue db.Enqueue
	// Patience is how long an upload waits for its verdict; 0 means the 30 s of the contract.
	Patience time.Duration
	// Hurry is closed when uploads must not wait any longer, because the process shuts down; nil for never.
	Hurry <-chan struct{}

	decided sync.Map // of the uploads that wait in this process: id -> chan struct{}, closed at the verdict

	copyWaits atomic.Int64 // readers of this process that wait for a public copy
}

// InspectJob asks for the inspection of one upload.
type InspectJob struct {
	AttachmentID uuid.UUID `json:"attachment_id"`
}

// Kind names the job.
func (InspectJob) Kind() string { return "inspect" }
