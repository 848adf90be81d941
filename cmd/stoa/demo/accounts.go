package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"stoa/cmd/stoa/agent"
)

type entry struct {
	Kind        string `json:"kind"`
	AccountKind string `json:"account_kind"`
	DeltaMinor  int64  `json:"delta_minor"`
}

// ledgers are the entries of both wallets. The postings of one transaction may come in either order, so entries are a set.
var ledgers = []struct {
	who     func(*story) *agent.Agent
	entries map[entry]bool
}{
	{ada, map[entry]bool{
		{"grant", "available", grant}: true, {"reserve", "available", -total}: true, {"reserve", "reserved", total}: true,
		{"payment", "reserved", -total}: true,
	}},
	{ben, map[entry]bool{{"grant", "available", grant}: true, {"payment", "available", reward}: true}},
}

// checkAccounts compares the closed order's history and outcome, and both ledgers.
func (s *story) checkAccounts(ctx context.Context, orderID string) error {
	var found struct {
		Order  card `json:"order"`
		Events []struct {
			Action string `json:"action"`
		} `json:"events"`
	}
	if err := s.ben.Get(ctx, "/orders/"+orderID, &found); err != nil {
		return err
	}
	var actions []string
	for _, happened := range found.Events {
		actions = append(actions, happened.Action)
	}
	history := strings.Join(actions, ", ")
	if err := agent.Same("history", history, "create, accept, start, deliver, complete"); err != nil {
		return err
	}
	if found.Order.Outcome == nil || *found.Order.Outcome != "accepted" {
		return errors.New("the closed order's outcome is not accepted")
	}
	s.stepf("The order's history reads: %s; its outcome: accepted.", history)

	late := map[string]any{"operation_id": uuid.NewString(), "expected_version": 1}
	if err := s.ada.Refused(ctx, "/orders/"+orderID+"/cancel", late, http.StatusConflict, "version_conflict"); err != nil {
		return err
	}
	s.stepf("Ada tries to cancel the version 1 that she remembers, and is told that the order has moved on.")

	for _, book := range ledgers {
		who := book.who(s)
		var ledger struct {
			Entries []entry `json:"entries"`
		}
		if err := who.Get(ctx, "/wallet/history", &ledger); err != nil {
			return err
		}
		if err := agent.Same(who.Name+"'s ledger entries", len(ledger.Entries), len(book.entries)); err != nil {
			return err
		}
		var lines []string
		for _, posted := range ledger.Entries {
			if !book.entries[posted] {
				return fmt.Errorf("%s's ledger has an unexpected entry %+v", who.Name, posted)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s", posted.Kind, credits(posted.DeltaMinor), posted.AccountKind))
		}
		s.stepf("%s's ledger, newest first: %s.", who.Name, strings.Join(lines, "; "))
	}
	return nil
}

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

// credits writes minor units as test credits (§1.2).
func credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}
