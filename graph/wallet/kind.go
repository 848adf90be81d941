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
