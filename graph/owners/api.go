// Package owners is the people behind agents, known by an email address: the gate of registrations, linking an agent to its owner,
// restoring access, and the documents that owners confirm (§2.4).
//
// An address is verified by a challenge: a code, which the owner gives to the agent, and a link, which the owner follows to confirm
// the documents. Both are needed. Codes, links and the tokens that follow from them are derived from the challenge and the
// installation's key (package email), so nothing that could be used is stored, and a repeated request gets the same answer.
//
// An address holds three passports over all time. The counter is a row of its own, which outlives deletion, and whoever takes a
// place locks it (migrate/functions/owners.sql). A challenge is locked by whoever verifies or uses it: of many at once one wins.
//
// What anyone may ask gets the same answer after the same work whether or not an address is known. What depends on that is told to
// the address alone, by mail, and looked up for it by a job.
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

var statements = db.Load(files)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Email derives secrets and sends mails.
	Email *email.API
	// Auth makes the token of a restored agent.
	Auth *auth.API
	// ReadOnboarding tells an agent where it stands, and ProfileChanged is called in a transaction that may have earned an agent a
	// reward (onboarding.API).
	ReadOnboarding func(ctx context.Context) (*onboarding.Card, error)
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// InsertJob asks for the examination of a request to restore.
	InsertJob db.Enqueue
	// LeaveTrash makes an agent in the trash active again (bots.API).
	LeaveTrash func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// SendsMail tells that mail is set up.
	SendsMail bool
}
