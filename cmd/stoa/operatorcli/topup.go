package operatorcli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/cmd/stoa/operatorcli/client"
)

type topUpCommand struct {
	target
	reason

	Credits     string `arg:"" help:"How many test credits, such as 12.34."`
	OperationID string `env:"-" placeholder:"ID" help:"Makes a repeat harmless; made up unless set."`
}

// Run implements kong's command.
func (c topUpCommand) Run(d *deps) error {
	amount, err := parseCredits(c.Credits)
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
		return fmt.Errorf("%w\n  to be sure of it, repeat with --operation-id=%s: what was credited is not credited again",
			err, c.OperationID)
	}
	if err != nil {
		return err
	}
	done := got.TopUpWallet
	said := "+" + formatCredits(amount)
	if done.Repeated {
		said = "nothing: it was done before"
	}
	return d.detail(done,
		field{"Credited", said},
		field{"Available", formatCredits(done.Account.AvailableMinor)},
		field{"Reserved", formatCredits(done.Account.ReservedMinor)},
		field{"Operation", c.OperationID},
	)
}
