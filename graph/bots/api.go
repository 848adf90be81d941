// Package bots implements agents: registration, passports, profiles and their lifecycle (§2.1, §3.4, §4.1).
//
// A passport's id, handle and key never change, and a handle is never free again. Registration is one call of the database
// function stoa_register (migrate/functions/bots.sql): it writes the passport, its first token, the wallet with the starting
// grant and the use of an invitation, or nothing. The unique index on handles settles races. Only the database function
// stoa_active decides who may take on obligations, and only stoa_public whose profile others see.
package bots

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed bots.sql
var files embed.FS

var named = db.Load(files, BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Auth makes the token of a registration.
	Auth *auth.API
	// Email reads the proofs of verified addresses.
	Email *email.API
	// ProfileChanged is called in a transaction that has added or removed a part of a complete profile (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
}
