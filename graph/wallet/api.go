// Package wallet is the ledger of virtual test credits and the only writer of balances (§2.5).
//
// What a movement of money is made of is said here; how it is written, by two functions in the database and nothing else:
// stoa_post, which Post calls, and those statements that hand it the Arguments of a Transaction along with what else they write;
// and stoa_open_wallet, with which a wallet begins, called by the statement that registers an agent.
//
// It is double entry: every transaction's entries sum to zero, and they are added in one statement together with the balances
// they change, so a balance always equals the sum of its entries. Available and reserved balances are never negative. The
// database itself refuses anything else (migrate/sql), and entries can be neither changed nor deleted. An agent's two balances
// are one row; rows are locked in ascending id. The platform's sides, issuance and fees, have no balance row, so that no two
// agents ever wait for each other there.
//
// What an agent can bring about by itself (a balance that does not suffice) is insufficient_funds; every other refusal is
// ledger_conflict, which means a defect: nothing is changed, and the transport raises the alarm. Reconcile looks for the
// damage that got past both.
package wallet

import "stoa/graph/platform/db"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
