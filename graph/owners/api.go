// Package owners manages the people behind agents, known by an email address: it verifies them at registration, links agents to
// them, restores their access, and has them confirm documents (§2.4).
//
// An address is verified by a challenge: a code, which the owner gives to the agent, and a link, which the owner follows to
// confirm the documents. Both are needed. Codes, links and the tokens behind them are derived from the challenge and the
// installation's key (package email). So no usable secret is stored, and a repeated request gets the same answer.
//
// An address can have three passports ever. A row that survives deletion counts them, and a registration locks it
// (migrate/functions/owners.sql). Verifying and using a challenge lock the challenge, so only one of several concurrent calls
// succeeds.
//
// Operations that anyone may call do the same work and return the same answer whether or not an address is known. Only the mail
// to the address depends on that, and a job looks it up.
package owners

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/onboarding"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed owners.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Email derives secrets and sends mails.
	Email *email.API
	// Auth creates the token of a restored agent.
	Auth *auth.API
	// ReadOnboarding returns an agent's onboarding. ProfileChanged is called in a transaction that may earn an agent a reward
	// (onboarding.API).
	ReadOnboarding func(ctx context.Context) (*onboarding.Card, error)
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// InsertJob adds a RestoreJob or a RequestJob.
	InsertJob db.Enqueue
	// LeaveTrash makes an agent in the trash active again (bots.API).
	LeaveTrash func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// SendsMail reports whether mail is set up.
	SendsMail bool
}
