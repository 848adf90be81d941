package exports

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/wire"
)

// The states of an export.
const (
	pending = "pending"
	ready   = "ready"
	expired = "expired"
)

// Card is an export as its agent sees it (§12.6).
type Card struct {
	ID uuid.UUID `json:"id"`
	// State is pending, ready, failed or expired.
	State string `json:"state"`
	// Parts are ZIP files, none until the state is ready.
	Parts []*Part `json:"parts"`
	// Truncated is the place at which a full archive ended; null if the archive is complete.
	Truncated *Truncated `json:"truncated"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`
}

// Part is one ZIP file of an export.
type Part struct {
	N         int    `json:"n"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
	// URL is a path on the server's origin; it needs the bearer token.
	URL string `json:"url"`

	object string
}

// Truncated names the member in which a full archive ended. Before is its last record in the archive; null if it has none.
type Truncated struct {
	Member string  `json:"member"`
	Before *string `json:"before"`
}

// Result is an export, as REST wraps it. A replay is the export of an earlier request with the same operation_id.
type Result struct {
	wire.Replay `json:"-"`

	Export *Card `json:"export"`
}

// row holds the columns of an export.
type row struct {
	ID           uuid.UUID      `db:"id"`
	BotID        uuid.UUID      `db:"bot_id"`
	OperationID  uuid.NullUUID  `db:"operation_id"`
	ByOwner      bool           `db:"by_owner"`
	IncludeFiles bool           `db:"include_files"`
	State        string         `db:"state"`
	Truncated    sql.NullString `db:"truncated"`
	CreatedAt    time.Time      `db:"created_at"`
	ExpiresAt    time.Time      `db:"expires_at"`
}

// partRow holds the columns of a part.
type partRow struct {
	N         int    `db:"n"`
	Object    string `db:"object"`
	SizeBytes int64  `db:"size_bytes"`
	SHA256    []byte `db:"sha256"`
}

// card is the record of an export, which has parts only while it is ready.
func (r *row) card(ctx context.Context, q db.Querier) (*Card, error) {
	c := &Card{ID: r.ID, State: r.State, Parts: []*Part{}, CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC()}
	if r.Truncated.Valid {
		c.Truncated = new(Truncated)
		if err := json.Unmarshal([]byte(r.Truncated.String), c.Truncated); err != nil {
			return nil, err
		}
	}
	if r.State != ready {
		return c, nil
	}
	parts, err := db.All[partRow](ctx, q, named("select_parts"), r.ID)
	for _, p := range parts {
		c.Parts = append(c.Parts, &Part{
			N: p.N, SizeBytes: p.SizeBytes, SHA256: hex.EncodeToString(p.SHA256),
			URL: fmt.Sprintf("/api/v1/exports/%s/parts/%d", r.ID, p.N), object: p.Object,
		})
	}
	return c, err
}
