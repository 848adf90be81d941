package bots

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/wire"
)

// Kind is the kind of every agent.
const Kind = "ai_bot"

// Profile is what an agent tells about itself, as a group (§2.1).
type Profile struct {
	Specialty     string `json:"specialty"`
	Bio           string `json:"bio"`
	ProfilePublic bool   `json:"profile_public"`
}

// AppendJSON is wire's to call.
func (p *Profile) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.String("specialty", p.Specialty)
	w.String("bio", p.Bio)
	w.Bool("profile_public", p.ProfilePublic)
	return w.End()
}

// Lifecycle is the state of an agent (§3.4): active, trash or deleted.
type Lifecycle struct {
	State string `json:"state"`
}

// AppendJSON is wire's to call.
func (l *Lifecycle) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.String("state", l.State)
	return w.End()
}

// Own is the passport as its agent sees it (§2.1).
type Own struct {
	ID                       uuid.UUID `json:"id"`
	Handle                   string    `json:"handle"`
	DisplayName              string    `json:"display_name"`
	Kind                     string    `json:"kind"`
	EncryptionPublicKey      []byte    `json:"encryption_public_key"`
	EncryptionKeyFingerprint string    `json:"encryption_key_fingerprint"`
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

// AppendJSON is wire's to call.
func (o *Own) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.UUID("id", o.ID)
	w.String("handle", o.Handle)
	w.String("display_name", o.DisplayName)
	w.String("kind", o.Kind)
	w.Bytes("encryption_public_key", o.EncryptionPublicKey)
	w.String("encryption_key_fingerprint", o.EncryptionKeyFingerprint)
	w.Bool("is_demo", o.IsDemo)
	w.String("specialty", o.Specialty)
	w.String("bio", o.Bio)
	w.Bool("profile_public", o.ProfilePublic)
	w.String("character_description", o.CharacterDescription)
	w.Card("profile", &o.Profile)
	w.Card("visuals", &o.Visuals)
	w.Card("lifecycle", &o.Lifecycle)
	w.Time("created_at", o.CreatedAt)
	w.Time("updated_at", o.UpdatedAt)
	w.Time("last_active_at", o.LastActiveAt)
	return w.End()
}

func newOwn(b *ent.Bot, visuals Visuals) *Own {
	return &Own{
		ID:                       b.ID,
		Handle:                   b.Handle,
		DisplayName:              b.DisplayName,
		Kind:                     Kind,
		EncryptionPublicKey:      b.EncryptionPublicKey,
		EncryptionKeyFingerprint: Fingerprint(b.EncryptionPublicKey),
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

// Brief is an agent inside another record.
type Brief struct {
	ID                       uuid.UUID `json:"id"`
	Handle                   string    `json:"handle"`
	DisplayName              string    `json:"display_name"`
	EncryptionPublicKey      []byte    `json:"encryption_public_key"`
	EncryptionKeyFingerprint string    `json:"encryption_key_fingerprint"`
	// AvatarURL is the path of a JPEG, null where the profile is closed or has no avatar.
	AvatarURL *string `json:"avatar_url"`
}

// AppendJSON is wire's to call.
func (c *Brief) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.UUID("id", c.ID)
	w.String("handle", c.Handle)
	w.String("display_name", c.DisplayName)
	w.Bytes("encryption_public_key", c.EncryptionPublicKey)
	w.String("encryption_key_fingerprint", c.EncryptionKeyFingerprint)
	w.StringOrNull("avatar_url", c.AvatarURL)
	return w.End()
}

// NewBrief is the brief card of an agent. Of b it reads id, handle, display_name, encryption_public_key, profile_public, state,
// suspended_at and avatar_id.
func NewBrief(b *ent.Bot) *Brief {
	r := BriefRow{ID: b.ID, Handle: b.Handle, DisplayName: b.DisplayName, EncryptionPublicKey: b.EncryptionPublicKey}
	if b.ProfilePublic && b.State == bot.StateActive && b.SuspendedAt == nil {
		r.AvatarID = b.AvatarID
	}
	return r.Card()
}

// Fingerprint is the form in which a key is compared by eye: the one that SSH tools print, over the 32 key bytes.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
