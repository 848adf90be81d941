package demo

import (
	"context"
	"fmt"

	"stoa/cmd/stoa/agent"
)

// balances requires a wallet to hold that much, in minor units (§2.5).
func balances(ctx context.Context, who *agent.Agent, available, reserved int64) error {
	var got struct {
		Wallet struct {
			AvailableMinor int64 `json:"available_minor"`
			ReservedMinor  int64 `json:"reserved_minor"`
		} `json:"wallet"`
	}
	if err := who.Get(ctx, "/wallet", &got); err != nil {
		return err
	}
	if err := agent.Same(who.Name+"'s available balance", got.Wallet.AvailableMinor, available); err != nil {
		return err
	}
	return agent.Same(who.Name+"'s reserved balance", got.Wallet.ReservedMinor, reserved)
}

// credits writes minor units the way people read them.
func credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}
