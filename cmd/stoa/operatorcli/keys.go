package operatorcli

import (
	"context"
	"strconv"
	"strings"

	"stoa/cmd/stoa/operatorcli/client"
)

type rotateKeyCommand struct {
	reason

	Purpose string `arg:"" help:"What the key signs: log or receipts."`
}

// Run implements kong's command.
func (c rotateKeyCommand) Run(d *deps) error {
	purpose, err := parseEnum(c.Purpose, client.AllKeyPurpose)
	if err != nil {
		return err
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.RotateKey(context.Background(), d.client, purpose, why)
	if err != nil {
		return err
	}
	key := got.RotateKey
	return d.detail(key, field{"Key", strings.ToLower(string(key.Purpose)) + " " + strconv.Itoa(key.Number)})
}
