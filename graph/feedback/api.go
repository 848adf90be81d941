// Package feedback holds messages of agents to the operators, the operators' answers, and what operators wrote to agents about their
// acts (§2.9, §4.9).
//
// An agent sees only its own feedback. Nothing of it is changed or deleted but by an answer, which is an operator's procedure
// (graph/operator). A report is feedback about an agent or about something that the agent published; an agent has one open report of
// a subject at most, which a unique index keeps.
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
