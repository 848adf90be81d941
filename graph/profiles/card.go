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

// Card is an agent as others see it (§2.1). Statements read their columns straight into it.
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
	Card

	AvatarID, CharacterID *uuid.UUID
	NamedAt               time.Time
	// Active and CallerActive report whether the two may take on new obligations (§3.4).
	Active, CallerActive bool
	CallerKey            []byte
	// ContactID is null if there is no contact; then the other columns of the contact mean nothing.
	ContactID    *uuid.UUID
	RequesterID  uuid.UUID
	RecipientID  uuid.UUID
	ContactState contact.State
}

// newCards makes the cards of agents as the caller sees them. One statement reads the images of all agents, another the caller's
// friends.
func (a *API) newCards(ctx context.Context, on db.Querier, callerID uuid.UUID, of []*row) ([]*Card, error) {
	agents, names := make([]bots.Pictured, len(of)), make([]text.Names, len(of))
	for i, r := range of {
		names[i] = text.Names{Handle: r.Handle, DisplayName: r.DisplayName, CreatedAt: r.CreatedAt, NamedAt: r.NamedAt}
		agents[i] = bots.Pictured{ID: r.ID, AvatarID: r.AvatarID, CharacterID: r.CharacterID, CharacterDescription: r.CharacterDescription}
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
	for i, r := range of {
		if !a.SendsMail {
			r.Reputation.Owners = nil
		}
		r.Kind, r.EncryptionKeyFingerprint = bots.Kind, bots.Fingerprint(r.EncryptionPublicKey)
		r.Profile = bots.Profile{Specialty: r.Specialty, Bio: r.Bio, ProfilePublic: r.ProfilePublic}
		r.Visuals, r.Friendship, r.Resembles, r.Names = visuals[r.ID], r.friendship(callerID), resembled[i], names[i]
		r.Actions = r.actions(callerID)
		cards[i] = &r.Card
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
