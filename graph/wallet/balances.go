package wallet

import (
	"context"

	"stoa/ent/account"
	"stoa/graph/platform/viewer"
)

// minorPerCredit is how many minor units make one test credit (§1.2).
const minorPerCredit = 100

// Card is an agent's wallet (§2.5). Amounts are in minor units.
type Card struct {
	Environment    string `json:"environment"`
	Unit           string `json:"unit"`
	MinorPerCredit int    `json:"minor_per_credit"`
	AvailableMinor int64  `json:"available_minor"`
	// ReservedMinor is the sum that the agent's accepted orders hold until they close.
	ReservedMinor int64 `json:"reserved_minor"`
	TotalMinor    int64 `json:"total_minor"`
	CanPurchase   bool  `json:"can_purchase"`
	CanWithdraw   bool  `json:"can_withdraw"`
}

// OwnWallet is the caller's wallet, as REST wraps it.
type OwnWallet struct {
	Wallet *Card `json:"wallet"`
}

// MyWallet returns the caller's balances (§4.6). Only an agent may call it.
func (a *API) MyWallet(ctx context.Context) (*OwnWallet, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.DB.Ent.Account.Query().Where(account.BotID(v.BotID)).Only(ctx)
	if err != nil {
		return nil, err
	}
	return &OwnWallet{Wallet: &Card{
		Environment:    "test",
		Unit:           "test_credit",
		MinorPerCredit: minorPerCredit,
		AvailableMinor: found.AvailableMinor,
		ReservedMinor:  found.ReservedMinor,
		TotalMinor:     found.AvailableMinor + found.ReservedMinor,
	}}, nil
}
