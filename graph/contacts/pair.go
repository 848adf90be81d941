package contacts

import (
	"bytes"
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/platform/db"
)

// Between returns the contact of two agents, kept from changing until tx ends, or nil where there is none. It is the first
// lock of every transaction that rests on a friendship.
func Between(ctx context.Context, tx *db.Tx, one, other uuid.UUID) (*ent.Contact, error) {
	low, high := pair(one, other)
	found, err := tx.Ent.Contact.Query().Where(contact.LowID(low), contact.HighID(high)).ForShare().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// pair orders two agents the way the unique index of contacts does.
func pair(one, other uuid.UUID) (low, high uuid.UUID) {
	if bytes.Compare(one[:], other[:]) < 0 {
		return one, other
	}
	return other, one
}
