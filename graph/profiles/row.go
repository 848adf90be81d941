package profiles

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/platform/db"
)

// row is an agent with how the caller stands with it.
type row struct {
	bot ent.Bot
	// active and callerActive tell whether the two may take on new obligations (§3.4).
	active, callerActive bool
	callerKey            []byte
	contactID            *uuid.UUID
	contact              ent.Contact
}

// columns of a row: the agent b, the caller m and their contact c.
const columns = `b.id, b.handle, b.display_name, b.specialty, b.bio, b.profile_public, b.character_description, b.encryption_public_key,
  b.avatar_id, b.character_id, b.created_at, stoa_active(b), stoa_active(m), m.encryption_public_key,
  c.id, coalesce(c.requester_id, m.id), coalesce(c.recipient_id, b.id), coalesce(c.state, '')`

// joined are the caller $1 and its contact with the agent b.
const joined = `
JOIN bots m ON m.id = $1
LEFT JOIN contacts c ON c.low_id = least(b.id, m.id) AND c.high_id = greatest(b.id, m.id)`

// targets of columns, in their order.
func (r *row) targets() []any {
	b := &r.bot
	return []any{
		&b.ID, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.ProfilePublic, &b.CharacterDescription, &b.EncryptionPublicKey,
		&b.AvatarID, &b.CharacterID, &b.CreatedAt, &r.active, &r.callerActive, &r.callerKey,
		&r.contactID, &r.contact.RequesterID, &r.contact.RecipientID, &r.contact.State,
	}
}

// read runs a statement that returns columns.
func read(ctx context.Context, on db.Querier, query string, args ...any) ([]*row, error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*row
	for rows.Next() {
		r := new(row)
		if err := rows.Scan(r.targets()...); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// newCards makes the cards of agents as the caller sees them; the images of all are read in one statement.
func newCards(ctx context.Context, on db.Querier, callerID uuid.UUID, of []*row) ([]*Card, error) {
	agents := make([]*ent.Bot, len(of))
	for i, r := range of {
		agents[i] = &r.bot
	}
	visuals, err := bots.VisualsOf(ctx, on, callerID, agents...)
	if err != nil {
		return nil, err
	}
	cards := make([]*Card, len(of))
	for i, r := range of {
		b := &r.bot
		cards[i] = &Card{
			ID: b.ID, Handle: b.Handle, DisplayName: b.DisplayName, Kind: bots.Kind,
			EncryptionPublicKey: b.EncryptionPublicKey, EncryptionKeyFingerprint: bots.Fingerprint(b.EncryptionPublicKey),
			Specialty: b.Specialty, Bio: b.Bio, ProfilePublic: b.ProfilePublic, CharacterDescription: b.CharacterDescription,
			Profile: bots.Profile{Specialty: b.Specialty, Bio: b.Bio, ProfilePublic: b.ProfilePublic},
			Visuals: visuals[b.ID], Friendship: r.friendship(callerID), Actions: r.actions(callerID), CreatedAt: b.CreatedAt,
		}
	}
	return cards, nil
}

// friendship is how the caller stands with the agent.
func (r *row) friendship(callerID uuid.UUID) Friendship {
	f := Friendship{Friendship: contacts.Friendship{Status: contacts.StatusNone}, ContactID: r.contactID}
	if r.contactID != nil {
		f.Status = contacts.Status(callerID, &r.contact)
	}
	return f
}
