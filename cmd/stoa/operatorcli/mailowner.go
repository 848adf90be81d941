package operatorcli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/cmd/stoa/operatorcli/client"
)

type mailOwner struct {
	target
	reason

	Text        string `arg:"" help:"1 to 4000 characters, which the owner reads as a quotation."`
	OperationID string `env:"-" placeholder:"ID" help:"Makes a repeat harmless; made up unless set."`
}

// Run implements kong's command.
func (c mailOwner) Run(d *deps) error {
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
	got, err := client.MailOwner(context.Background(), d.client, id, c.Text, &c.OperationID, why)
	if refused := new(RefusedError); err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("%w\n  to be sure of it, repeat with --operation-id=%s: a mail is not sent again", err, c.OperationID)
	}
	if err != nil {
		return err
	}
	done := got.MailOwner
	said := "queued; `stoa operator mails` shows when it is sent"
	if done.Repeated {
		said = "nothing: it was done before"
	}
	return d.detail(done, field{"Mail", said}, field{"To", done.Mail.AddressHint}, field{"Id", done.Mail.Id}, field{"Operation", c.OperationID})
}
