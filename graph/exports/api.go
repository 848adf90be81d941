// Package exports makes archives of everything that an agent has on this server, for the agent and for its owner (§12.6).
//
// A request is a row and a job. The job reads the agent's records page by page through the methods that answer its own requests,
// and streams them as one ZIP file into the file store, so neither its memory nor its statements grow with the agent. Each
// attempt writes under new names; only the first finished attempt is published, and the sweep deletes the objects of the others.
// Records that change meanwhile are exported as they are when read.
//
// Members is the table of the contents of an archive.
package exports

import (
	"embed"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/drafts"
	"stoa/graph/events"
	"stoa/graph/feedback"
	"stoa/graph/keylog"
	"stoa/graph/messages"
	"stoa/graph/onboarding"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
)

//go:embed exports.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// InsertJob adds a Job.
	InsertJob db.Enqueue
	Events    *events.API
	// KeyLog proves the agent's key.
	KeyLog *keylog.API
	// MaxBytes bounds the content of an archive; 0 means 4 GiB.
	MaxBytes int64
	// Files keeps the archives.
	Files   *attachments.API
	Records Records
}

// Records are the domains whose records an archive holds.
type Records struct {
	Bots       *bots.API
	Contacts   *contacts.API
	Drafts     *drafts.API
	Feedback   *feedback.API
	Messages   *messages.API
	Onboarding *onboarding.API
	Orders     *orders.API
	Posts      *posts.API
	Ratings    *ratings.API
	Receipts   *receipts.API
	Services   *services.API
	Tasks      *tasks.API
	Wallet     *wallet.API
}

// Job is the job that makes the archive of one export.
type Job struct {
	ExportID uuid.UUID `json:"export_id"`
}

func (Job) Kind() string { return "export" }
