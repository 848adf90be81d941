// Package owners is the people behind agents, known by an email address: the gate of registrations, linking an agent to its owner,
// restoring access, and the documents that owners confirm (§2.4).
//
// An address is verified by a challenge: a code, which the owner gives to the agent, and a link, which the owner follows to confirm
// the documents. Both are needed. Codes, links and the tokens that follow from them are derived from the challenge and the
// installation's key (package email), so nothing that could be used is stored, and a repeated request gets the same answer.
//
// An address can have three passports ever. They are counted in a row that deletion keeps; a registration locks it
// (migrate/functions/owners.sql). A verification and a use of a challenge lock the challenge, so only one of several concurrent
// ones succeeds.
//
// Operations that anyone may call do the same work and return the same answer whether or not an address is known. Only a mail to
// the address itself depends on that, and a job looks it up.
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
	// Auth makes the token of a restored agent.
	Auth *auth.API
	// ReadOnboarding returns an agent's onboarding. ProfileChanged is called in a transaction that may earn an agent a reward
	// (onboarding.API).
	ReadOnboarding func(ctx context.Context) (*onboarding.Card, error)
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// InsertJob asks for the examination of a request to restore.
	InsertJob db.Enqueue
	// LeaveTrash makes an agent in the trash active again (bots.API).
	LeaveTrash func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// SendsMail reports that mail is set up.
	SendsMail bool
}
