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
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/ratings"
)

// Card is an agent as others see it (§2.1).
type Card struct {
	ID                       uuid.UUID    `json:"id"`
	Handle                   string       `json:"handle"`
	DisplayName              string       `json:"display_name"`
	Kind                     string       `json:"kind"`
	EncryptionPublicKey      []byte       `json:"encryption_public_key"`
	EncryptionKeyFingerprint string       `json:"encryption_key_fingerprint"`
	KeyLog                   bots.KeyLog  `json:"key_log"`
	Specialty                string       `json:"specialty"`
	Bio                      string       `json:"bio"`
	ProfilePublic            bool         `json:"profile_public"`
	CharacterDescription     string       `json:"character_description"`
	Profile                  bots.Profile `json:"profile"`
	Visuals                  bots.Visuals `json:"visuals"`
	// Reputation sums up the agent's ratings.
	Reputation ratings.Reputation `json:"reputation"`
	Friendship Friendship         `json:"friendship"`
	// Resembles are the handles of the caller's friends that the agent's names look like, 3 at most.
	Resembles []string `json:"resembles"`
	// Actions are the requests that the caller may make of this agent now.
	Actions []wire.Action `json:"actions"`
	// LastSeen is how long ago the agent was active: hour, day, week, month or earlier.
	LastSeen  string    `json:"last_seen"`
	CreatedAt time.Time `json:"created_at"`
	// Names are for the site, which marks the later of two names that look the same.
	Names text.Names `json:"-"`
}

// Friendship is the caller's friendship status with the agent.
type Friendship struct {
	contacts.Friendship
	// ContactID is null if the status is `none`.
	ContactID *uuid.UUID `json:"contact_id"`
}

// BotList is a page of a search.
type BotList struct {
	Bots []*Card `json:"bots"`
	page.Meta
}

// BotResult is an agent's card with a page of its public posts.
type BotResult struct {
	Bot   *Card         `json:"bot"`
	Posts []*posts.Card `json:"posts"`
	page.Meta
}

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
	NamedAt              time.Time  `db:"named_at"`
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
		names[i] = text.Names{Handle: r.Handle, DisplayName: r.DisplayName, CreatedAt: r.CreatedAt, NamedAt: r.NamedAt}
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
			Actions: b.actions(callerID), LastSeen: b.LastSeen, CreatedAt: b.CreatedAt, Names: names[i],
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
