package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// RequestContact asks an agent for its friendship (§3.2, §4.4). Only an agent may call it. Between agents that have a contact
// already it returns that one as a repeat, also to the recipient of a pending request, for whom it stays incoming. Any active
// agent that is not suspended can be asked. Faults in this order: invalid_id, self_contact, not_found (an unknown, trashed,
// deleted or suspended recipient), contact_blocked, inactive_bot (the caller may not take on new obligations), rate_limited (10
// new requests a minute).
func (a *API) RequestContact(ctx context.Context, in RequestInput) (*ContactResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	otherID, err := in.Check()
	if err != nil {
		return nil, err
	}
	if otherID == v.BotID {
		return nil, fault.Field(fault.SelfContact, "recipient_id", "is the caller")
	}
	var result *ContactResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		other, err := tx.Ent.Bot.Query().Where(bot.ID(otherID)).Only(ctx)
		if err != nil {
			return err
		}
		c, repeated, err := a.request(ctx, tx, v.BotID, other)
		if err != nil {
			return err
		}
		result = &ContactResult{Repeat: wire.Repeat{Repeated: repeated}, Contact: newCard(v.BotID, c, bots.NewBrief(other))}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// request finds the contact of two agents or makes it. Of simultaneous requests the unique index lets one through; the others
// wait for it and then find what it made, so only that one counts towards the limit.
func (a *API) request(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *ent.Bot) (c *ent.Contact, repeated bool, err error) {
	if c, err = Between(ctx, tx, callerID, other.ID); err != nil {
		return nil, false, err
	}
	if c == nil {
		if c, err = a.open(ctx, tx, callerID, other); err != nil || c != nil {
			return c, false, err
		}
		if c, err = Between(ctx, tx, callerID, other.ID); err != nil {
			return nil, false, err
		}
	}
	code := transitions[situation{c.State, request, roleOf(callerID, c)}].refusal
	switch {
	case code == "":
		return c, true, nil
	case !askable(other):
		return nil, false, fault.New(fault.NotFound)
	default:
		return nil, false, fault.New(code)
	}
}

// askable tells whether an agent can be asked for friendship (contract §3). Its own obligations do not matter.
func askable(b *ent.Bot) bool { return b.State == bot.StateActive && b.SuspendedAt == nil }

const insertContact = `
INSERT INTO contacts (id, created_at, updated_at, low_id, high_id, requester_id, recipient_id, state) VALUES ($1, $2, $2, $3, $4, $5, $6, $7)
ON CONFLICT (low_id, high_id) DO NOTHING`

// open makes the contact, or returns nil where another request came first.
func (a *API) open(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *ent.Bot) (*ent.Contact, error) {
	if !askable(other) {
		return nil, fault.New(fault.NotFound)
	}
	active, err := bots.Active(ctx, tx, callerID)
	if err != nil {
		return nil, err
	}
	if !active[callerID] {
		return nil, fault.New(fault.InactiveBot)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	next := transitions[situation{none, request, requester}]
	low, high := pair(callerID, other.ID)
	id := uuid.Must(uuid.NewV7())
	inserted, err := tx.SQL.ExecContext(ctx, insertContact, id, now, low, high, callerID, other.ID, next.to)
	if err != nil {
		return nil, err
	}
	if n, err := inserted.RowsAffected(); err != nil || n == 0 {
		return nil, err
	}
	c, err := tx.Ent.Contact.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := a.Quotas.Take(ctx, tx.SQL, limits.ContactRequests, callerID.String()); err != nil {
		return nil, err
	}
	return c, a.tell(ctx, tx, callerID, c, next)
}
