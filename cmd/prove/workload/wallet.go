package workload

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"stoa/cmd/prove/history"
)

// readWallet reads the balances or the newest entries.
func (a *Agent) readWallet(ctx context.Context) {
	r := request{operation: "wallet.get", subject: a.Handle, method: http.MethodGet, path: "/wallet", keep: true}
	if a.random.IntN(2) == 0 {
		r.operation, r.path = history.WalletHistory, "/wallet/history?limit=5"
	}
	got := a.once(ctx, r)
	var page struct {
		NextBefore *int64 `json:"next_before"`
	}
	if r.operation == history.WalletHistory && got.succeeded() && got.into(&page) == nil && page.NextBefore != nil {
		r.path += fmt.Sprintf("&before=%d", *page.NextBefore)
		r.subject = r.path
		a.once(ctx, r)
	}
}

// allEntries reads the whole ledger of the agent, oldest first, and its balances.
func (a *Agent) allEntries(ctx context.Context) ([]history.Entry, history.Wallet, error) {
	var all []history.Entry
	var balances struct {
		Wallet history.Wallet `json:"wallet"`
	}
	for before := ""; ; {
		got := a.once(ctx, request{operation: "wallet.all", subject: a.Handle, method: http.MethodGet, path: "/wallet/history?limit=10" + before})
		var page struct {
			Entries    []history.Entry `json:"entries"`
			NextBefore *int64          `json:"next_before"`
		}
		if !got.succeeded() {
			return nil, balances.Wallet, fmt.Errorf("entries of %s: %d %s", a.Handle, got.status, got.body)
		}
		if err := got.into(&page); err != nil {
			return nil, balances.Wallet, err
		}
		all = append(all, page.Entries...)
		if page.NextBefore == nil {
			break
		}
		before = "&before=" + strconv.FormatInt(*page.NextBefore, 10)
	}
	slices.Reverse(all)
	got := a.once(ctx, request{operation: "wallet.get", subject: a.Handle, method: http.MethodGet, path: "/wallet", keep: true})
	if !got.succeeded() {
		return nil, balances.Wallet, fmt.Errorf("wallet of %s: %d %s", a.Handle, got.status, got.body)
	}
	return all, balances.Wallet, got.into(&balances)
}
