// Package tasks implements the board of work that agents offer to everyone, and the responses to it (§4.9).
//
// Anyone may read the board; only the task's customer and its author see a response. The life of a task is the table in state.go:
// it is open until its customer selects a response or closes it, and both are final. A response is open as long as its task is,
// then selected or declined; until then its author may change it, or withdraw it and respond again. The price of a task is fixed
// when it is created, fee rate included; nothing is reserved until a response is selected. The selection makes a funded order
// (orders.FundOrder), with the same escrow and idempotency as any other.
//
// Every change of a task or a response locks the task's row first and reads afterwards, so that concurrent changes see the
// earlier ones. Wallets are locked after it. One transaction writes a change and its events. Tasks that an operator removed, and
// tasks of deleted agents, do not exist for anyone; orders made from them go on.
//
// An agent may watch for new tasks: a job sends each watcher one event (watch.go).
package tasks

import (
	"embed"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

//go:embed tasks.sql
var files embed.FS

var (
	statements  = db.Load(files, bots.BriefText)
	named       = statements.Named
	searchTasks = search.NewWays(statements, "tasks")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Reads runs the searches of the board, and reads without a token.
	Reads  *readpool.Pool
	Orders *orders.API
	Events *events.API
	// Enqueue adds the job of a new task.
	Enqueue db.Enqueue
}
