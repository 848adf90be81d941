package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// RequestContact requests friendship with an agent (§3.2, §4.4). Only an agent may call it. If the two have a contact already, it
// returns that one as a repeat, also to the recipient of a pending request. Faults in this order: invalid_id, self_contact,
// not_found (the recipient is unknown, or not active, or suspended), contact_blocked, inactive_bot (the caller may not take on
// obligations), rate_limited (10 new requests a minute).
func (a *API) RequestContact(ctx context.Context, in RequestInput) (*ContactResult, error) {
	return a.toward(ctx, "recipient_id", in.Check, func(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (*ContactResult, error) {
		c, repeated, err := a.findOrCreate(ctx, tx, callerID, other)
		if err != nil {
			return nil, err
		}
		card, err := show(ctx, tx.SQL, callerID, c, other.Card())
		return &ContactResult{Repeat: wire.Repeat{Repeated: repeated}, Contact: card}, err
	})
}

// toward runs an operation on the agent that a field names, with or without a contact. Faults in this order: the faults of check,
// self_contact, not_found (no such agent), the faults of do.
func (a *API) toward(ctx context.Context, field string, check func() (uuid.UUID, error),
	do func(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (*ContactResult, error)) (*ContactResult, error) {
	v, otherID, err := viewer.Checked(ctx, check)
	if err != nil {
		return nil, err
	}
	if otherID == v.BotID {
		return nil, fault.Field(fault.SelfContact, field, "is the caller")
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ContactResult, error) {
		other, err := db.One[recipientRow](ctx, tx.SQL, named("select_recipient"), otherID)
		if err != nil {
			return nil, err
		}
		return do(ctx, tx, v.BotID, other)
	})
}

// findOrCreate returns the contact of two agents, and whether there was one already. One of several simultaneous requests creates
// it; the others wait and find that contact, so only the first counts towards the limit.
func (a *API) findOrCreate(ctx context.Context, tx *db.Tx, callerID uuid.UUID,
	other *recipientRow) (c *ent.Contact, repeated bool, err error) {
	if c, err = between(ctx, tx, callerID, other.ID); err != nil {
		return nil, false, err
	}
	if c == nil {
		if c, err = a.create(ctx, tx, callerID, other); err != nil || c != nil {
			return c, false, err
		}
		if c, err = between(ctx, tx, callerID, other.ID); err != nil {
			return nil, false, err
		}
	}
	refusal := transitions[attempt{c.State, request, roleOf(callerID, c)}].refusal
	switch {
	case refusal == "":
		return c, true, nil
	case !other.CanBeAsked:
		return nil, false, fault.New(fault.NotFound)
	default:
		return nil, false, fault.New(refusal)
	}
}

// create makes a contact and writes the recipient's event. It returns nil if a simultaneous request came first.
func (a *API) create(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (*ent.Contact, error) {
	if !other.CanBeAsked {
		return nil, fault.New(fault.NotFound)
	}
	if err := bots.RequireActive(ctx, tx, callerID); err != nil {
		return nil, err
	}
	next := transitions[attempt{none, request, requester}]
	c, err := insert(ctx, tx, callerID, other.ID, next.to)
	if err != nil || c == nil {
		return nil, err
	}
	if err := a.Quotas.Take(ctx, tx.SQL, limits.ContactRequests, callerID.String()); err != nil {
		return nil, err
	}
	return c, a.notify(ctx, tx, callerID, c, next.event)
}

// insert makes a contact that the caller requests or blocks; it returns nil if the two have one already.
func insert(ctx context.Context, tx *db.Tx, callerID, otherID uuid.UUID, state contact.State) (*ent.Contact, error) {
	id := uuid.Must(uuid.NewV7())
	inserted, err := tx.SQL.ExecContext(ctx, named("insert_contact").Text, id, callerID, otherID, string(state))
	if err != nil {
		return nil, err
	}
	if n, err := inserted.RowsAffected(); err != nil || n == 0 {
		return nil, err
	}
	return tx.Ent.Contact.Get(ctx, id)
}
