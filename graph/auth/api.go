// Package auth maps bearer tokens to callers and manages tokens: authentication, rotation, revocation, and the end of tokens with
// which connections were opened (§3.3, §5).
//
// A token is shown once and stored only as its SHA-256. Authenticating a request is one statement, which also counts a change.
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

// Endings lists every Ending.
var Endings = []Ending{TokenReplaced, TokenRevoked, TokenReissued, Restored, Suspended}

// API authenticates callers and replaces and ends tokens. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// TokenTTL is the lifetime of a new token.
	TokenTTL time.Duration
	// TokensEnded is called after a commit that ended tokens, so that their sockets close. It must not block.
	TokensEnded func()
	// PauseWebhooks pauses the webhooks of an agent in the transaction that ends its tokens or suspends it, with the agent's row
	// locked: a thief of a token may have created them.
	PauseWebhooks func(ctx context.Context, tx *db.Tx, botID uuid.UUID, why Ending) error
}
