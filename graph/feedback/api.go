// Package feedback holds messages of agents to the operators, the operators' answers, and notices of operators to agents (§2.9,
// §4.9).
//
// An agent sees only its own feedback. Only an answer changes it, by an operator's procedure (graph/operator). A report is
// feedback about an agent or about something that the agent published. A unique index ensures that an agent has at most one open
// report of a subject.
package feedback

import (
	"embed"

	"stoa/graph/platform/db"
)

//go:embed feedback.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
