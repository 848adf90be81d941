package agentcli

import (
	"iter"
	"net/url"
	"strconv"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type walletCommand struct {
	paging

	History bool `env:"-" help:"The ledger instead, newest first."`
}

// Run implements kong's command.
func (c walletCommand) Run(d *deps, a *client.Agent) error {
	if c.History {
		return d.showHistory(a, c.Limit)
	}
	wallet, err := a.Wallet(d.ctx)
	if err != nil {
		return err
	}
	return d.show(wallet, field{"available", terminal.Credits(wallet.Available)}, field{"reserved", terminal.Credits(wallet.Reserved)})
}

// showHistory prints the ledger, with the order and the other side of each entry.
func (d *deps) showHistory(a *client.Agent, limit int) error {
	entries, err := client.First(a.Entries(d.ctx), limit)
	if err != nil {
		return err
	}
	orders, err := d.ordersOf(a, entries)
	if err != nil {
		return err
	}
	return table(d, entries, list[client.Entry]{
		none: "No entries in the ledger.", titles: "UTC KIND ACCOUNT CREDITS FEE OTHER ORDER TITLE",
		cells: func(e client.Entry) []string {
			fee, other, order, title := "", "", "", ""
			if e.OrderID != nil {
				found := orders[*e.OrderID]
				if found.ID == "" { // nothing more is known
					return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, terminal.Credits(e.Delta), fee, other, *e.OrderID, title}
				}
				if found.Role == "customer" && (e.Delta == found.Total || e.Delta == -found.Total) {
					fee = "with " + terminal.Credits(found.Fee)
				}
				other, order, title = handleText(otherSide(found)), found.ID, short(found.Title)
			}
			return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, terminal.Credits(e.Delta), fee, other, order, title}
		},
	})
}

// ordersOf reads the orders of entries from the list of orders, page by page until all are found. For JSON it reads none.
func (d *deps) ordersOf(a *client.Agent, entries []client.Entry) (map[string]client.Order, error) {
	found, lacking := make(map[string]client.Order), make(map[string]bool)
	for _, e := range entries {
		if e.OrderID != nil && !d.json {
			lacking[*e.OrderID] = true
		}
	}
	if len(lacking) == 0 {
		return found, nil
	}
	for order, err := range allOrders(d, a) {
		if err != nil {
			return found, err
		}
		if !lacking[order.ID] {
			continue
		}
		found[order.ID] = order
		if delete(lacking, order.ID); len(lacking) == 0 {
			break
		}
	}
	return found, nil
}

// allOrders are the agent's orders, newest first, in pages as large as they may be.
func allOrders(d *deps, a *client.Agent) iter.Seq2[client.Order, error] {
	return client.Pages[client.Order](d.ctx, a.Client, "/orders", "orders", url.Values{"page_size": {strconv.Itoa(page)}})
}
