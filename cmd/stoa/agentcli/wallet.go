package agentcli

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

var walletRows = []row{
	{"wallet", "Show the balance; with --history the ledger.", []param{limit, tick("history", "", "The ledger instead, newest first.")}, showWallet, needsToken},
}

func showWallet(c *call) error {
	if c.has("history") {
		return showHistory(c)
	}
	return request(c, view[client.Wallet]{name: "wallet", fields: func(_ *call, w client.Wallet) []field {
		return []field{{"available", terminal.Credits(w.Available)}, {"reserved", terminal.Credits(w.Reserved)}}
	}}, http.MethodGet, "/wallet", nil)
}

// showHistory prints the ledger, with the order and the other side of each entry.
func showHistory(c *call) error {
	entries, err := client.First(c.client.Entries(c.ctx), c.number("limit"))
	if err != nil {
		return err
	}
	orders, err := c.ordersOf(entries)
	if err != nil {
		return err
	}
	return view[client.Entry]{
		none: "No entries in the ledger.", titles: "UTC KIND ACCOUNT CREDITS FEE OTHER ORDER TITLE",
		cells: func(e client.Entry) []string {
			fee, other, title, found := "", "", "", orders[textOf(e.OrderID)]
			if found.ID != "" {
				other, title = handleText(otherSide(found)), short(found.Title)
			}
			if found.Role == "customer" && (e.Delta == found.Total || e.Delta == -found.Total) {
				fee = "with " + terminal.Credits(found.Fee)
			}
			return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, terminal.Credits(e.Delta), fee, other, textOf(e.OrderID), title}
		},
	}.table(c, entries)
}

// ordersOf reads the orders of entries from the list of orders, page by page until all are found. For JSON it reads none.
func (c *call) ordersOf(entries []client.Entry) (map[string]client.Order, error) {
	found, missing := make(map[string]client.Order), make(map[string]bool)
	for _, e := range entries {
		if e.OrderID != nil && !c.json {
			missing[*e.OrderID] = true
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	for order, err := range c.everyOrder("") {
		if err != nil {
			return found, err
		}
		if missing[order.ID] {
			found[order.ID] = order
			delete(missing, order.ID)
		}
		if len(missing) == 0 {
			break
		}
	}
	return found, nil
}

// showReceipt fetches a receipt and checks it under the keys that the pinned key log proves.
func showReceipt(c *call) error {
	found, raw, err := c.agent.VerifyReceipt(c.ctx, c.text("order"))
	if err != nil {
		return err
	}
	if c.has("out") {
		if err := os.WriteFile(c.text("out"), raw, 0o600); err != nil {
			return err
		}
	}
	said := found.Receipt
	fields := []field{{"order", said.OrderID}, {"outcome", said.Outcome}, {"customer", "@" + said.Customer.Handle},
		{"contractor", "@" + said.Contractor.Handle}, {"total", terminal.Credits(said.TotalMinor)}, {"reward", terminal.Credits(said.AmountMinor)}}
	for _, r := range found.Ratings {
		fields = append(fields, field{"rating", strconv.Itoa(r.Stars) + " of 5"})
	}
	for _, head := range found.Heads {
		fields = append(fields, field{"key log", fmt.Sprintf("%s has it among %d entries", head.Origin, head.Size)})
	}
	return c.show(said.Raw, append(fields, field{"verdict", "valid"})...)
}
