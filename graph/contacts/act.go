package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// AcceptContact makes friends of the two agents of a pending contact (§3.2, §4.4). Only the agent that was asked may call it; a
// repeat returns the same contact. Faults in this order: invalid_id, not_found (not a contact of the caller), recipient_required,
// contact_blocked, inactive_bot (one of the two may not take on obligations).
func (a *API) AcceptContact(ctx context.Context, in ActInput) (*ContactResult, error) {
	return a.act(ctx, accept, in)
}

// BlockContact ends a contact permanently. Its messages that were not acknowledged are no longer delivered, and open responses of
// the two to each other's tasks are declined (§3.2, §4.4). Either of its agents may call it, in any state; a repeat returns the
// blocked contact, which both may block. Faults: invalid_id, not_found (not a contact of the caller).
func (a *API) BlockContact(ctx context.Context, in ActInput) (*ContactResult, error) {
	return a.act(ctx, block, in)
}

// act applies an operation to a contact of the caller, whose row it locks.
func (a *API) act(ctx context.Context, op operation, in ActInput) (*ContactResult, error) {
	v, contactID, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ContactResult, error) {
		c, err := tx.Ent.Contact.Query().Where(contact.ID(contactID), ownedBy(v.BotID)).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		if c, _, err = a.apply(ctx, tx, v.BotID, c, op); err != nil {
			return nil, err
		}
		other, err := bots.ReadBrief(ctx, tx.SQL, otherThan(v.BotID, c))
		if err != nil {
			return nil, err
		}
		card, err := show(ctx, tx.SQL, v.BotID, c, other)
		return &ContactResult{Contact: card}, err
	})
}

// apply moves a locked contact to the next state of an operation and writes its effects. A repeat changes nothing, with one
// exception: if both agents block, each is left out of the other's lists.
func (a *API) apply(ctx context.Context, tx *db.Tx, callerID uuid.UUID, c *ent.Contact, op operation) (_ *ent.Contact, repeated bool, err error) {
	next := transitions[attempt{c.State, op, roleOf(callerID, c)}]
	switch {
	case next.refusal != "":
		return nil, false, fault.New(next.refusal)
	case next.to == none && op == block && *c.BlockedBy != callerID && c.AlsoBlockedBy == nil:
		c, err = tx.Ent.Contact.UpdateOne(c).SetAlsoBlockedBy(callerID).Save(ctx)
		return c, true, err
	case next.to == none:
		return c, true, nil
	}
	if next.requiresActive {
		if err := bots.RequireActive(ctx, tx, c.RequesterID, c.RecipientID); err != nil {
			return nil, false, err
		}
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, false, err
	}
	change := tx.Ent.Contact.UpdateOne(c).SetState(next.to).SetUpdatedAt(now)
	switch next.to {
	case contact.StateAccepted:
		change.SetAcceptedAt(now)
	case contact.StateBlocked:
		change.SetBlockedBy(callerID)
	}
	if c, err = change.Save(ctx); err != nil {
		return nil, false, err
	}
	if next.to == contact.StateBlocked {
		err := db.Exec(ctx, tx.SQL, named("delete_announcements"), c.ID, c.RequesterID, c.RecipientID,
			string(events.MessageCreated))
		if err != nil {
			return nil, false, err
		}
		tx.AfterCommit(func() { a.Events.Withdrawn([]uuid.UUID{c.RequesterID, c.RecipientID}) })
		if err := a.Blocked(ctx, tx, callerID, otherThan(callerID, c)); err != nil {
			return nil, false, err
		}
	}
	return c, false, a.notify(ctx, tx, callerID, c, next.event)
}

// notify writes an event for the other agent, with the friendship status as that agent sees it.
func (a *API) notify(ctx context.Context, tx *db.Tx, callerID uuid.UUID, c *ent.Contact, kind events.Kind) error {
	otherID := otherThan(callerID, c)
	payload := events.ContactPayload{ContactID: c.ID, BotID: callerID, FriendshipStatus: Status(otherID, c)}
	if kind == events.ContactRequested {
		caller, err := bots.ReadBrief(ctx, tx.SQL, callerID)
		if err != nil {
			return err
		}
		resembled, err := Resembled(ctx, tx.SQL, otherID, caller.Names())
		if err != nil {
			return err
		}
		payload.Resembles = resembled[0]
	}
	return a.Events.Add(ctx, tx, events.Event{Recipient: otherID, Kind: kind, Payload: payload})
}

// BlockBot blocks an agent permanently, whether or not the two have a contact (§4.4). An existing contact is blocked as by
// BlockContact. Between strangers a blocked contact is made with the caller as requester; neither gets an event. Open responses
// of the two to each other's tasks are declined. Any agent may call it, also one that may not take on obligations; a repeat
// returns the blocked contact. Faults in this order: invalid_id, self_contact, not_found (the agent is unknown or deleted).
func (a *API) BlockBot(ctx context.Context, in BlockInput) (*ContactResult, error) {
	return a.toward(ctx, "bot_id", in.Check, a.blockPair)
}

// blockPair blocks the contact of two agents, or makes a blocked one. Faults: not_found (the other is deleted).
func (a *API) blockPair(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (c *ent.Contact, repeated bool, err error) {
	if other.Deleted {
		return nil, false, fault.New(fault.NotFound)
	}
	made, err := insert(ctx, tx, callerID, other.ID, transitions[attempt{none, block, requester}].to)
	if err != nil {
		return nil, false, err
	}
	if made != nil {
		return made, false, a.Blocked(ctx, tx, callerID, other.ID)
	}
	if c, err = tx.Ent.Contact.Query().Where(ofPair(callerID, other.ID)).ForUpdate().Only(ctx); err != nil {
		return nil, false, err
	}
	return a.apply(ctx, tx, callerID, c, block)
}

// RequestContact requests friendship with an agent (§3.2, §4.4). Only an agent may call it. If the two have a contact already, it
// returns that one as a repeat, also to the recipient of a pending request. Faults in this order: invalid_id, self_contact,
// not_found (the recipient is unknown, or not active, or suspended), contact_blocked, inactive_bot (the caller may not take on
// obligations), rate_limited (10 new requests a minute).
func (a *API) RequestContact(ctx context.Context, in RequestInput) (*ContactResult, error) {
	return a.toward(ctx, "recipient_id", in.Check, a.findOrCreate)
}

// toward runs an operation on the agent that a field names, with or without a contact. do returns the contact, and whether the
// request was a repeat. Faults in this order: the faults of check, self_contact, not_found (no such agent), the faults of do.
func (a *API) toward(ctx context.Context, field string, check func() (uuid.UUID, error),
	do func(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (*ent.Contact, bool, error)) (*ContactResult, error) {
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
		c, repeated, err := do(ctx, tx, v.BotID, other)
		if err != nil {
			return nil, err
		}
		card, err := show(ctx, tx.SQL, v.BotID, c, other.Card())
		return &ContactResult{Repeat: wire.Repeat{Repeated: repeated}, Contact: card}, err
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
	if n, err := db.Changed(ctx, tx.SQL, named("insert_contact"), id, callerID, otherID, string(state)); err != nil || n == 0 {
		return nil, err
	}
	return tx.Ent.Contact.Get(ctx, id)
}
