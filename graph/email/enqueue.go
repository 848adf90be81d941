package email

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// Mail is a mail to be sent.
type Mail struct {
	Kind mail.Kind
	// To is the address, as its owner wrote it.
	To string
	// BotID is the agent whose owner gets the mail; nil if there is none.
	BotID *uuid.UUID
	// Reference is the id of the record that the mail is about, such as a challenge; the kind determines its table.
	Reference *uuid.UUID
	// ExpiresAt is when sending the mail becomes pointless; nil means three days from now.
	ExpiresAt *time.Time
	// Counted reports that the mail was counted towards the hourly budget already (TakeCode).
	Counted bool
	// ID is the id of the mail; uuid.Nil means a new one.
	ID uuid.UUID
	// Text is the text of an operator; empty for all other kinds of mails.
	Text string
}

// Enqueue adds a mail in the transaction of its cause, and returns its id. The mail is sent if and only if the transaction
// commits.
func (a *API) Enqueue(ctx context.Context, tx *db.Tx, m Mail) (uuid.UUID, error) {
	if _, known := kinds[m.Kind]; !known {
		return uuid.Nil, fmt.Errorf("email: a mail of kind %q cannot be sent", m.Kind)
	}
	to, err := Parse(m.To)
	if err != nil {
		return uuid.Nil, err
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
	made, err := tx.Ent.Mail.Create().SetID(m.ID).SetKind(m.Kind).SetAddress(to.String()).SetAddressHint(to.Hint()).
		SetNillableBotID(m.BotID).SetNillableReference(m.Reference).SetNillableExpiresAt(m.ExpiresAt).
		SetNillableCountedAt(counted).SetCreatedAt(now).Save(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	if m.Text != "" {
		if err := db.Exec(ctx, tx.SQL, named("insert_text"), made.ID, m.Text); err != nil {
			return uuid.Nil, err
		}
	}
	return made.ID, a.InsertJob(ctx, tx, SendJob{MailID: made.ID})
}

// TakeCode counts a mail with a code towards the hourly budget, before the caller enqueues it as Counted. It refuses a code that
// would have to wait, because the code would expire. Codes cannot use the last quarter of the budget, so a flood of them leaves
// room for other mails. Its fault is rate_limited.
func (a *API) TakeCode(ctx context.Context, tx *db.Tx) error {
	return a.Quotas.Take(ctx, tx.SQL, limits.MailedCodes, "")
}

// count counts a mail towards the hourly budget, unless it was counted before. If the budget is used up, it returns how long the
// mail waits.
func (a *API) count(ctx context.Context, m *claimed, limit limits.Limit) (wait time.Duration, err error) {
	if m.Counted {
		return 0, nil
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := a.Quotas.Take(ctx, tx.SQL, limit, ""); err != nil {
			return err
		}
		return db.Exec(ctx, tx.SQL, named("count_mail"), m.ID)
	})
	if full := fault.From(err); err != nil && full.Code == limit.Code {
		return full.Retry(), nil
	}
	return 0, err
}
