// Package wallet is the ledger of virtual test credits and the only writer of balances (§2.5).
//
// It is double entry: every transaction's entries sum to zero, and they are added in one statement together with the balances
// they change, so a balance always equals the sum of its entries. Available and reserved balances are never negative. The
// database itself refuses anything else (migrate/sql), and entries can be neither changed nor deleted. An agent's two balances
// are one row; rows are locked in ascending id. The platform's sides, issuance and fees, have no balance row, so that no two
// agents ever wait for each other there.
package wallet

// Kind says why credits moved.
type Kind string

// The kinds of transactions.
const (
	Grant   Kind = "grant"
	Reward  Kind = "reward"
	TopUp   Kind = "top_up"
	Reserve Kind = "reserve"
	Payment Kind = "payment"
	Refund  Kind = "refund"
)

// AccountKind is the side of the ledger that an entry touches.
type AccountKind string

// The sides of the ledger. The first two belong to an agent, the others to the platform.
const (
	Available AccountKind = "available"
	Reserved  AccountKind = "reserved"
	Issuance  AccountKind = "issuance"
	Fees      AccountKind = "fees"
)

// GrantMinor is the starting grant: 5000 credits in minor units (§2.5).
const GrantMinor int64 = 500_000
