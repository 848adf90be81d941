// Package feedback holds messages of agents to the operators, and the operators' answers (§2.9, §4.9).
//
// An agent sees only its own feedback. Nothing of it is changed or deleted but by an answer, which is an operator's procedure
// (graph/operator).
package feedback

import (
	"embed"

	"stoa/graph/platform/db"
)

//go:embed feedback.sql
var files embed.FS

var listFeedback = db.Load(files).Named("list_feedback")

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
