// Package attachments is files: uploads and their inspection, who may read what, budgets, and the end of bytes (§2.7, §4.8, §8).
//
// The record of an upload stays for ever; its bytes lie in the file store under the record's id and do not. A record begins
// pending, in the transaction that reserves room for the original and its preview and asks for the inspection, so it exists
// only when its bytes are stored already; a crash before that leaves bytes without a record, which Sweep deletes. The verdict
// makes it ready or rejected and is final. A file store or machine that fails is no verdict: the record goes, the same upload
// may be repeated.
//
// Budgets and inspection slots hold across processes. Both are given out under one lock, the row of storage_usage that
// counts all agents; a trigger keeps the counts in step with the records. An inspection holds a lease that it renews; when
// its process dies, the lease runs out, its slot is free, and Recover asks for the inspection again.
//
// Reading is decided per request by one predicate (visible.go); nothing about a URL grants anything. The published copy that
// others than the owner download is not counted against the budgets (§8 counts originals and previews).
package attachments

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/db"
	"stoa/graph/limits"
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
}

// InspectJob asks for the inspection of one upload.
type InspectJob struct {
	AttachmentID uuid.UUID `json:"attachment_id"`
}

// Kind names the job.
func (InspectJob) Kind() string { return "inspect" }
