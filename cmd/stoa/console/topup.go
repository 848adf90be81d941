package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/cmd/stoa/console/client"
)

type topUpCommand struct {
	target
	reason

	Credits     string `arg:"" help:"How many test credits, such as 12.34."`
	OperationID string `env:"-" placeholder:"ID" help:"Makes a repeat harmless; made up unless set."`
}

// Run is kong's to call.
func (c topUpCommand) Run(d *desk) error {
	amount, err := minor(c.Credits)
	if err != nil {
		return err
	}
	id, err := c.id(d)
	if err != nil {
		return err
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	if c.OperationID == "" {
		c.OperationID = uuid.NewString()
	}
	got, err := client.TopUpWallet(context.Background(), d.client, id, amount, &c.OperationID, why)
	if refused := new(RefusedError); err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("%w\n  to be sure of it, repeat with --operation-id=%s: what was credited is not credited again", err, c.OperationID)
	}
	if err != nil {
		return err
	}
	done := got.TopUpWallet
	said := "+" + credits(amount)
	if done.Repeated {
		said = "nothing: it was done before"
	}
	return d.detail(done,
		line{"Credited", said},
		line{"Available", credits(done.Account.AvailableMinor)},
		line{"Reserved", credits(done.Account.ReservedMinor)},
		line{"Operation", c.OperationID},
	)
}
