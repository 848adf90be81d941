package agentcli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/note"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/receipt"
)

type receiptCommand struct {
	Order string `arg:"" help:"Id of a closed order."`
	Out   string `env:"-" placeholder:"FILE" help:"Keep the receipt in this file, too; stoa verify checks it without the server."`
}

// maxKeySet bounds the keys of a server in bytes, and keysTimeout the time that they may take.
const (
	maxKeySet   = 1 << 20
	keysTimeout = 30 * time.Second
)

// Run fetches a receipt and checks it under the keys that the pinned key log proves.
func (c receiptCommand) Run(d *deps, a *client.Agent) error {
	raw, err := a.Send(d.ctx, http.MethodGet, "/orders/"+c.Order+"/receipt", nil)
	if err != nil {
		return err
	}
	trust, err := d.receiptTrust(a)
	if err != nil {
		return err
	}
	found, err := receipt.Verify(raw.Body, trust)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := os.WriteFile(c.Out, raw.Body, 0o600); err != nil {
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

// receiptTrust are the keys of the server, which its log must prove, and the key of the log that is pinned or given.
func (d *deps) receiptTrust(a *client.Agent) (trust receipt.Trust, err error) {
	vkey := d.LogKey
	if vkey == "" {
		if vkey, err = a.Trust.LogKey(); err != nil {
			return trust, err
		}
	}
	for _, one := range []struct {
		vkeys []string
		parse func(string) (note.Verifier, error)
		into  *[]note.Verifier
	}{{[]string{vkey}, keylog.ParseLogKey, &trust.Logs}, {d.Witness, keylog.ParseWitnessKey, &trust.Witnesses}} {
		for _, text := range one.vkeys {
			key, err := one.parse(text)
			if err != nil {
				return trust, err
			}
			*one.into = append(*one.into, key)
		}
	}
	response, err := (&http.Client{Timeout: keysTimeout}).Get(a.Origin() + "/.well-known/jwks.json") //nolint:noctx // the client has a timeout
	if err != nil {
		return trust, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet))
	if err == nil {
		trust.Keys, err = receipt.ParseKeys(raw)
	}
	return trust, err
}
