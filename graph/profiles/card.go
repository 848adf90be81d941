package profiles

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/platform/page"
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
