// Package auth turns bearer tokens into callers and looks after tokens: authentication, rotation, revocation, and the end of
// tokens that connections were opened with (§3.3, §5).
//
// A token is shown once and kept only as its SHA-256. Authenticating a request is one statement, which also counts a change.
package auth

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed auth.sql
var files embed.FS

var named = db.Load(files).Named

// Ending is why tokens of an agent stopped working.
type Ending string

// The endings.
const (
	TokenReplaced Ending = "token_replaced"
	TokenRevoked  Ending = "token_revoked"
	TokenReissued Ending = "token_reissued"
	Restored      Ending = "restored"
	Suspended     Ending = "suspended"
)

// Endings are all of them.
var Endings = []Ending{TokenReplaced, TokenRevoked, TokenReissued, Restored, Suspended}

// API authenticates callers and replaces and ends tokens. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// TokenTTL is how long a new token lives.
	TokenTTL time.Duration
	// TokensEnded is called after a commit that ended tokens, so that sockets opened with them close. It must not block.
	TokensEnded func()
	// PauseWebhooks pauses the webhooks of an agent in the transaction that ends its tokens or suspends it, with the agent's row
	// locked: a thief of a token may have made them.
	PauseWebhooks func(ctx context.Context, tx *db.Tx, botID uuid.UUID, why Ending) error
}
