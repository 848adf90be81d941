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
	"context"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"time"

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
	"stoa/graph/platform/wire"
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

// The states of an export.
const (
	pending = "pending"
	ready   = "ready"
	expired = "expired"
)

// Card is an export as its agent sees it (§12.6).
type Card struct {
	ID uuid.UUID `json:"id" db:"id"`
	// State is pending, ready, failed or expired.
	State string `json:"state" db:"state"`
	// Parts are ZIP files, none until the state is ready.
	Parts []*Part `json:"parts" db:"-"`
	// Truncated is the place at which a full archive ended; null if the archive is complete.
	Truncated *Truncated `json:"truncated" db:"truncated"`
	CreatedAt time.Time  `json:"created_at" db:"created_at"`
	ExpiresAt time.Time  `json:"expires_at" db:"expires_at"`
}

// Part is one ZIP file of an export.
type Part struct {
	N         int    `json:"n" db:"n"`
	SizeBytes int64  `json:"size_bytes" db:"size_bytes"`
	SHA256    string `json:"sha256" db:"sha256"`
	// URL is a path on the server's origin; it needs the bearer token.
	URL string `json:"url" db:"url"`
	// Object is the part's key in the file store.
	Object string `json:"-" db:"object"`
}

// Truncated names the member in which a full archive ended. Before is its last record in the archive; null if it has none.
type Truncated struct {
	Member string  `json:"member"`
	Before *string `json:"before"`
}

func (t *Truncated) Scan(column any) error {
	raw, _ := column.([]byte)
	return json.Unmarshal(raw, t)
}

func (t Truncated) Value() (driver.Value, error) {
	raw, err := json.Marshal(t)
	return string(raw), err
}

// Result is an export, as REST wraps it. A replay is the export of an earlier request with the same operation_id.
type Result struct {
	wire.Replay `json:"-"`

	Export *Card `json:"export"`
}

// row holds the columns of an export.
type row struct {
	Card

	BotID        uuid.UUID     `db:"bot_id"`
	OperationID  uuid.NullUUID `db:"operation_id"`
	ByOwner      bool          `db:"by_owner"`
	IncludeFiles bool          `db:"include_files"`
}

// card completes the card of an export, which has parts only while it is ready.
func (r *row) card(ctx context.Context, q db.Querier) (_ *Card, err error) {
	if r.State == ready {
		r.Parts, err = db.All[Part](ctx, q, named("select_parts"), r.ID)
	}
	return &r.Card, err
}
