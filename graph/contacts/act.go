package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// AcceptContact makes friends of the two agents of a pending contact (§3.2, §4.4). Only the agent that was asked may call it;
// repeating it returns the same contact. Faults in this order: invalid_id, not_found (not a contact of the caller),
// recipient_required, contact_blocked, inactive_bot (either agent may not take on new obligations).
func (a *API) AcceptContact(ctx context.Context, in ActInput) (*ContactResult, error) {
	return a.act(ctx, accept, in)
}

// BlockContact ends a contact for good, and announcements of messages that were not acknowledged with it (§3.2, §4.4). Either
// of its agents may call it, in any state; repeating it returns the blocked contact. Faults: invalid_id, not_found (not a
// contact of the caller).
func (a *API) BlockContact(ctx context.Context, in ActInput) (*ContactResult, error) {
	return a.act(ctx, block, in)
}

// act applies an operation to a contact of the caller, under its lock.
func (a *API) act(ctx context.Context, does operation, in ActInput) (*ContactResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	contactID, err := in.Check()
	if err != nil {
		return nil, err
	}
	var card *Card
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		c, err := tx.Ent.Contact.Query().Where(contact.ID(contactID), own(v.BotID)).ForUpdate().Only(ctx)
		if err != nil {
			return err
		}
		next := transitions[situation{c.State, does, roleOf(v.BotID, c)}]
		if next.refusal != "" {
			return fault.New(next.refusal)
		}
		if next.to != none {
			if c, err = a.move(ctx, tx, v.BotID, c, next); err != nil {
				return err
			}
		}
		other, err := tx.Ent.Bot.Query().Where(bot.ID(Other(v.BotID, c))).Only(ctx)
		if err != nil {
			return err
		}
		card = newCard(v.BotID, c, bots.NewBrief(other))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &ContactResult{Contact: card}, nil
}

// move brings a locked contact into its next state, with all that comes of it.
func (a *API) move(ctx context.Context, tx *db.Tx, actorID uuid.UUID, c *ent.Contact, next outcome) (*ent.Contact, error) {
	if next.needsActive {
		active, err := bots.Active(ctx, tx, c.RequesterID, c.RecipientID)
		if err != nil {
			return nil, err
		}
		if !active[c.RequesterID] || !active[c.RecipientID] {
			return nil, fault.New(fault.InactiveBot)
		}
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	change := tx.Ent.Contact.UpdateOne(c).SetState(next.to).SetUpdatedAt(now)
	switch next.to {
	case contact.StateAccepted:
		change.SetAcceptedAt(now)
	case contact.StateBlocked:
		change.SetBlockedBy(actorID)
	}
	if c, err = change.Save(ctx); err != nil {
		return nil, err
	}
	if next.silences {
		if _, err := tx.SQL.ExecContext(ctx, silence, c.ID, c.RequesterID, c.RecipientID, string(events.MessageCreated)); err != nil {
			return nil, err
		}
		tx.AfterCommit(func() { a.Events.Withdrawn([]uuid.UUID{c.RequesterID, c.RecipientID}) })
	}
	return c, a.tell(ctx, tx, actorID, c, next)
}

// silence takes back what either agent has not acknowledged of the other's messages. Sends in progress hold the contact's lock
// until their announcement is committed, so none slips through. The recipients are named because the outbox is indexed by them.
const silence = `DELETE FROM events WHERE recipient_id IN ($2, $3) AND contact_id = $1 AND kind = $4`

// tell writes the event for the agent that did not act, as that one sees the contact now.
func (a *API) tell(ctx context.Context, tx *db.Tx, actorID uuid.UUID, c *ent.Contact, next outcome) error {
	otherID := Other(actorID, c)
	return a.Events.Add(ctx, tx, events.Event{Recipient: otherID, Kind: next.tells, Payload: events.ContactPayload{
		ContactID: c.ID, BotID: actorID, FriendshipStatus: Status(otherID, c),
	}})
}
