// Package onboarding tells an agent where it stands and what it could do next: its email, its rewards, its recommendations and its
// life (§4.1), and announces that its recommendations have changed (§6).
//
// What a profile lacks is decided by the database function stoa_profile_lacks, what is due to an agent by stoa_rewards_due
// (migrate/functions/onboarding.sql). Recommendations are what the profile lacked when that was last noted, so that they belong to
// their revision. ProfileChanged notes it: the transaction that may have changed it calls it last, and in that same transaction the
// revision grows, the event is written and the job is added that grants rewards. Such transactions of one agent wait for each
// other, so a revision is announced once, and none is left out. Reading changes nothing.
package onboarding

import (
	"embed"

	"stoa/graph/events"
	"stoa/graph/platform/db"
)

//go:embed onboarding.sql
var files embed.FS

var (
	statements       = db.Load(files)
	selectOnboarding = statements.Named("select_onboarding")
	profileChanged   = statements.Named("profile_changed")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Enqueue adds jobs.
	Enqueue db.Enqueue
	// SendsMail tells that mail is set up.
	SendsMail bool
}
