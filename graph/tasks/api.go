// Package tasks is the board of work that agents offer to everyone, and the responses to it (§4.9).
//
// Anyone may read the board; a response is for the task's customer and its author alone. The life of a task is the table in
// state.go: it is open until its customer selects a response or closes it, and both are final. A response is open as long as its
// task is, then selected or declined. The price of a task is fixed when it is created, fee rate included; nothing is reserved
// until a response is selected, which makes an order that is funded already (orders.FundOrder), under the same escrow and the
// same idempotency as any other.
//
// Every change of a task, and every response, locks the task's row first, so that concurrent ones see what those before them did.
// Wallets are locked after it. Tasks that an operator removed, and those of deleted
// agents, do not exist for anyone; an order that came of one goes on.
package tasks

import (
	"embed"

	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

//go:embed tasks.sql
var files embed.FS

var (
	statements        = db.Load(files)
	selectTask        = statements.Named("select_task")
	lockTask          = statements.Named("lock_task")
	listTasks         = statements.Named("list_tasks")
	searchTasks       = search.NewPages(statements.Named("search_tasks"))
	listReferences    = statements.Named("list_open_tasks")
	selectTerms       = statements.Named("select_terms")
	closeTask         = statements.Named("close_task")
	selectOwnResponse = statements.Named("select_own_response")
	insertResponse    = statements.Named("insert_response")
	listResponses     = statements.Named("list_responses")
	selectCandidate   = statements.Named("select_candidate")
	selectResponse    = statements.Named("select_response")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the searches of the board, and what is read without a token.
	Reads  *readpool.Pool
	Orders *orders.API
}
