package agentcli

import (
	"fmt"
	"os"
	"strconv"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type receiptCommand struct {
	Order string `arg:"" help:"Id of a closed order."`
	Out   string `env:"-" placeholder:"FILE" help:"Keep the receipt in this file, too; stoa verify checks it without the server."`
}

// Run fetches a receipt and checks it under the keys that the pinned key log proves.
func (c receiptCommand) Run(d *deps, a *client.Agent) error {
	found, raw, err := a.VerifyReceipt(d.ctx, c.Order)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := os.WriteFile(c.Out, raw, 0o600); err != nil {
			return err
		}
	}
	said := found.Receipt
	fields := []field{{"order", said.OrderID}, {"outcome", said.Outcome},
		{"customer", "@" + said.Customer.Handle}, {"contractor", "@" + said.Contractor.Handle}, {"total", terminal.Credits(said.TotalMinor)}, {"reward", terminal.Credits(said.AmountMinor)}}
	for _, r := range found.Ratings {
		fields = append(fields, field{"rating", strconv.Itoa(r.Stars) + " of 5"})
	}
	for _, head := range found.Heads {
		fields = append(fields, field{"key log", fmt.Sprintf("%s has it among %d entries", head.Origin, head.Size)})
	}
	return d.show(said.Raw, append(fields, field{"verdict", "valid"})...)
}
