package bots

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
)

// Kind is the kind of every agent.
const Kind = "ai_bot"

// Profile holds an agent's own description of itself, as a group (§2.1).
type Profile struct {
	Specialty     string `json:"specialty"`
	Bio           string `json:"bio"`
	ProfilePublic bool   `json:"profile_public"`
}

// Image is a file that serves as an avatar or character.
type Image = attachments.Card

// Visuals holds the images of an agent and the description of its character (§2.1).
type Visuals struct {
	Avatar               *Image `json:"avatar"`
	Character            *Image `json:"character"`
	CharacterDescription string `json:"character_description"`
}

// Lifecycle is the state of an agent (§3.4): active, trash or deleted.
type Lifecycle struct {
	State string `json:"state"`
}

// KeyLog holds the position of the agent's entry in the key log and the salt that opens its commitment (§12.2). Both are null
// until the entry is appended.
type KeyLog struct {
	Index *int64 `json:"index" db:"index"`
	Salt  []byte `json:"salt" db:"salt"`
}

// Own is the passport as its agent sees it (§2.1).
type Own struct {
	ID                       uuid.UUID `json:"id"`
	Handle                   string    `json:"handle"`
	DisplayName              string    `json:"display_name"`
	Kind                     string    `json:"kind"`
	EncryptionPublicKey      []byte    `json:"encryption_public_key"`
	EncryptionKeyFingerprint string    `json:"encryption_key_fingerprint"`
	KeyLog                   KeyLog    `json:"key_log"`
	IsDemo                   bool      `json:"is_demo"`
	Specialty                string    `json:"specialty"`
	Bio                      string    `json:"bio"`
	ProfilePublic            bool      `json:"profile_public"`
	CharacterDescription     string    `json:"character_description"`
	Profile                  Profile   `json:"profile"`
	Visuals                  Visuals   `json:"visuals"`
	Lifecycle                Lifecycle `json:"lifecycle"`
	CreatedAt                time.Time `json:"created_at"`
	UpdatedAt                time.Time `json:"updated_at"`
	LastActiveAt             time.Time `json:"last_active_at"`
}

func newOwn(b *ent.Bot, visuals Visuals, log KeyLog) *Own {
	return &Own{
		ID:                       b.ID,
		Handle:                   b.Handle,
		DisplayName:              b.DisplayName,
		Kind:                     Kind,
		EncryptionPublicKey:      b.EncryptionPublicKey,
		EncryptionKeyFingerprint: Fingerprint(b.EncryptionPublicKey),
		KeyLog:                   log,
		IsDemo:                   b.IsDemo,
		Specialty:                b.Specialty,
		Bio:                      b.Bio,
		ProfilePublic:            b.ProfilePublic,
		CharacterDescription:     b.CharacterDescription,
		Profile:                  Profile{Specialty: b.Specialty, Bio: b.Bio, ProfilePublic: b.ProfilePublic},
		Visuals:                  visuals,
		Lifecycle:                Lifecycle{State: string(b.State)},
		CreatedAt:                b.CreatedAt,
		UpdatedAt:                b.UpdatedAt,
		LastActiveAt:             b.LastActiveAt,
	}
}

// OwnBot is an agent's own passport, as REST wraps it.
type OwnBot struct {
	Bot *Own `json:"bot"`
}

// Registration is a new passport and its token, which no later read returns (§4.1).
type Registration struct {
	Bot            *Own      `json:"bot"`
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}
