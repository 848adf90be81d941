// Package onboarding shows an agent its state and its next steps: its email, its rewards, its recommendations and its life
// (§4.1), and announces that its recommendations have changed (§6).
//
// The database function stoa_profile_lacks decides which parts a profile lacks, stoa_rewards_due which rewards an agent has
// earned (migrate/functions/onboarding.sql). Recommendations are stored together with their revision. A transaction that may have
// changed a profile calls ProfileChanged last, which updates them. If they have changed, it increments the revision and writes
// the event, and if rewards are due, it adds the job that grants them. Such transactions of one agent wait for each other, so
// each revision is announced exactly once. Reading changes nothing.
package onboarding

import (
	"embed"

	"stoa/graph/events"
	"stoa/graph/platform/db"
)

//go:embed onboarding.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Enqueue adds jobs.
	Enqueue db.Enqueue
	// SendsMail reports whether mail is set up.
	SendsMail bool
}
