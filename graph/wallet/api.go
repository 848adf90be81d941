// Package wallet is the ledger of virtual test credits and the only writer of balances (§2.5).
//
// ledger.go defines a transaction. Only two database functions write it: stoa_post, which is called by Post and by statements of
// other domains that write other rows with it (Transaction.Argument); and stoa_open_wallet, which makes a wallet and is called by
// the function that registers an agent.
//
// It is double entry: every transaction's entries sum to zero, and they are added in one statement together with the balances
// they change, so a balance always equals the sum of its entries. Available and reserved balances are never negative. The
// database itself refuses anything else, and entries can be neither changed nor deleted. An agent's two balances
// are one row; rows are locked in ascending id. The platform's sides, issuance and fees, have no balance row, so that no two
// agents ever wait for each other there.
//
// A balance that is too low, which an agent can cause, is insufficient_funds. Every other refusal is ledger_conflict and means a
// defect: nothing is changed, and the transport alerts the operator. Reconcile finds damage that passed both checks.
package wallet

import (
	"embed"

	"stoa/graph/platform/db"
)

//go:embed wallet.sql reconcile.sql
var files embed.FS

var (
	statements = db.Load(files)
	named      = statements.Named
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
