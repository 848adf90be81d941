// Package operator is what the people who run Stoa may see and do (contract §10).
//
// The explorer lists every entity as a Relay connection, generated from ent/schema; what operators must never see (tokens,
// codes, ciphertext, nonces, the texts of an order, the names and hashes of files, event payloads) has no field there. Everything an operator changes, and
// the one look into an order's texts and files, is a procedure: a row of the table in procedure.go and a GraphQL mutation of that name.
// A procedure takes a reason and leaves one audit entry, in the transaction that has its effect: there is no effect without
// an entry, and no entry of what did not happen. Details of an entry hold the arguments, never a secret that was made.
//
// Only an operator may call the methods of API; anyone else gets unauthorized. A target that does not exist is not_found.
package operator

import (
	"context"

	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/rewards"
	"stoa/graph/wallet"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Auth   *auth.API
	Ledger *wallet.API
	// Sweeps are all there is to clean up, for the periodic job as for the procedure.
	Sweeps []Sweep
	// Files holds the bytes of orders' files.
	Files  *attachments.API
	Agents *bots.API
	Earned *rewards.API
	// SendsMail tells that this installation can send mail. No server sets it: this version sends none.
	SendsMail bool
	// BackUp makes a backup now.
	BackUp func(context.Context) (*Copy, error)
}
