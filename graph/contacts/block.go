package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// BlockBot blocks an agent permanently, whether or not the two have a contact (§4.4). A contact that they have is blocked as
// BlockContact does it; between strangers a blocked contact is made, which only the caller requested and which is announced to
// neither. Open responses of the two to each other's tasks are declined. Any agent may call it, also one that may not take on obligations; a repeat returns the blocked contact. Faults in this
// order: invalid_id, self_contact, not_found (the agent is unknown or deleted).
func (a *API) BlockBot(ctx context.Context, in BlockInput) (*ContactResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	otherID, err := in.Check()
	if err != nil {
		return nil, err
	}
	if otherID == v.BotID {
		return nil, fault.Field(fault.SelfContact, "bot_id", "is the caller")
	}
	var result *ContactResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		other, err := db.One[recipientRow](ctx, tx.SQL, selectRecipient, otherID)
		if err != nil {
			return err
		}
		if other.Deleted {
			return fault.New(fault.NotFound)
		}
		result, err = a.blockPair(ctx, tx, v.BotID, other)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// blockPair blocks the contact of two agents, or makes a blocked one.
func (a *API) blockPair(ctx context.Context, tx *db.Tx, callerID uuid.UUID, other *recipientRow) (*ContactResult, error) {
	made, err := insert(ctx, tx, callerID, other.ID, transitions[attempt{none, block, requester}].to)
	if err != nil {
		return nil, err
	}
	if made != nil {
		if err := a.Blocked(ctx, tx, callerID, other.ID); err != nil {
			return nil, err
		}
		return &ContactResult{Contact: newCard(callerID, made, other.Card())}, nil
	}
	c, err := tx.Ent.Contact.Query().Where(ofPair(callerID, other.ID)).ForUpdate().Only(ctx)
	if err != nil {
		return nil, err
	}
	next := transitions[attempt{c.State, block, roleOf(callerID, c)}]
	if next.to != none {
		if c, err = a.apply(ctx, tx, callerID, c, next); err != nil {
			return nil, err
		}
	}
	return &ContactResult{Repeat: wire.Repeat{Repeated: next.to == none}, Contact: newCard(callerID, c, other.Card())}, nil
}
