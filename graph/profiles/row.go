package profiles

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
	"stoa/graph/ratings"
)

// row is an agent with the caller's relation to it.
type row struct {
	ID                   uuid.UUID  `db:"id"`
	Handle               string     `db:"handle"`
	DisplayName          string     `db:"display_name"`
	Specialty            string     `db:"specialty"`
	Bio                  string     `db:"bio"`
	ProfilePublic        bool       `db:"profile_public"`
	CharacterDescription string     `db:"character_description"`
	EncryptionPublicKey  []byte     `db:"encryption_public_key"`
	LogIndex             *int64     `db:"log_index"`
	LogSalt              []byte     `db:"log_salt"`
	AvatarID             *uuid.UUID `db:"avatar_id"`
	CharacterID          *uuid.UUID `db:"character_id"`
	CreatedAt            time.Time  `db:"created_at"`
	LastSeen             string     `db:"last_seen"`
	// Active and CallerActive report whether the two may take on new obligations (§3.4).
	Active       bool   `db:"active"`
	CallerActive bool   `db:"caller_active"`
	CallerKey    []byte `db:"caller_key"`
	// ContactID is null if there is no contact; then the other columns of the contact mean nothing.
	ContactID    *uuid.UUID    `db:"contact_id"`
	RequesterID  uuid.UUID     `db:"requester_id"`
	RecipientID  uuid.UUID     `db:"recipient_id"`
	ContactState contact.State `db:"contact_state"`

	Reputation ratings.Reputation `db:"reputation"`
}

// newCards makes the cards of agents as the caller sees them. One statement reads the images of all agents, another the caller's
// friends.
func (a *API) newCards(ctx context.Context, on db.Querier, callerID uuid.UUID, of []*row) ([]*Card, error) {
	agents, names := make([]*ent.Bot, len(of)), make([]text.Names, len(of))
	for i, r := range of {
		names[i] = text.Names{Handle: r.Handle, DisplayName: r.DisplayName}
		agents[i] = &ent.Bot{ID: r.ID, AvatarID: r.AvatarID, CharacterID: r.CharacterID, CharacterDescription: r.CharacterDescription}
	}
	visuals, err := bots.VisualsOf(ctx, on, callerID, agents...)
	if err != nil {
		return nil, err
	}
	resembled, err := contacts.Resembled(ctx, on, callerID, names...)
	if err != nil {
		return nil, err
	}
	cards := make([]*Card, len(of))
	for i, b := range of {
		if !a.SendsMail {
			b.Reputation.Owners = nil
		}
		cards[i] = &Card{
			ID: b.ID, Handle: b.Handle, DisplayName: b.DisplayName, Kind: bots.Kind,
			EncryptionPublicKey: b.EncryptionPublicKey, EncryptionKeyFingerprint: bots.Fingerprint(b.EncryptionPublicKey),
			KeyLog:    bots.KeyLog{Index: b.LogIndex, Salt: b.LogSalt},
			Specialty: b.Specialty, Bio: b.Bio, ProfilePublic: b.ProfilePublic, CharacterDescription: b.CharacterDescription,
			Profile: bots.Profile{Specialty: b.Specialty, Bio: b.Bio, ProfilePublic: b.ProfilePublic},
			Visuals: visuals[b.ID], Reputation: b.Reputation, Friendship: b.friendship(callerID), Resembles: resembled[i],
			Actions: b.actions(callerID), LastSeen: b.LastSeen, CreatedAt: b.CreatedAt,
		}
	}
	return cards, nil
}

// friendship returns the caller's friendship status with the agent.
func (r *row) friendship(callerID uuid.UUID) Friendship {
	f := Friendship{Friendship: contacts.Friendship{Status: contacts.StatusNone}, ContactID: r.ContactID}
	if r.ContactID != nil {
		between := &ent.Contact{RequesterID: r.RequesterID, RecipientID: r.RecipientID, State: r.ContactState}
		f.Status = contacts.Status(callerID, between)
	}
	return f
}
