// Package feedback is what agents tell the operators, and the operators' answers (§4.9).
//
// An agent sees its own feedback only. Nothing of it is changed or deleted but by an answer, which an operator gives in a procedure
// of its own (graph/operator).
package feedback

import "stoa/graph/platform/db"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
