package email

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/platform/db"
)

// Mail is a mail to be sent.
type Mail struct {
	Kind mail.Kind
	To   Address
	// BotID is the agent whose owner gets the mail, where there is one.
	BotID *uuid.UUID
	// Reference is the id of the record that the mail is about, such as a challenge; the kind determines its table.
	Reference *uuid.UUID
	// ExpiresAt is when sending it becomes pointless; nil: three days from now.
	ExpiresAt *time.Time
	// Counted: it was counted towards the hourly budget already (TakeCode).
	Counted bool
	// ID is that of the mail; uuid.Nil: a new one.
	ID uuid.UUID
	// Text is that of a mail that an operator has written; empty for all others.
	Text string
}

var insertText = statements.Named("insert_text")

// Enqueue adds a mail in the transaction of its cause: it is sent if and only if that is committed. It returns the mail's id.
func (a *API) Enqueue(ctx context.Context, tx *db.Tx, m Mail) (uuid.UUID, error) {
	if _, known := kinds[m.Kind]; !known || m.To == (Address{}) {
		return uuid.Nil, fmt.Errorf("email: a mail of kind %q cannot be sent, or it has no address", m.Kind)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	var counted *time.Time
	if m.Counted {
		counted = &now
	}
	if m.ID == uuid.Nil {
		m.ID = uuid.Must(uuid.NewV7())
	}
	made, err := tx.Ent.Mail.Create().SetID(m.ID).SetKind(m.Kind).SetAddress(m.To.String()).SetAddressHint(m.To.Hint()).
		SetNillableBotID(m.BotID).SetNillableReference(m.Reference).SetNillableExpiresAt(m.ExpiresAt).
		SetNillableCountedAt(counted).SetCreatedAt(now).Save(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	if m.Text != "" {
		if _, err := tx.SQL.ExecContext(ctx, insertText.Text, made.ID, m.Text); err != nil {
			return uuid.Nil, err
		}
	}
	return made.ID, a.InsertJob(ctx, tx, SendJob{MailID: made.ID})
}
