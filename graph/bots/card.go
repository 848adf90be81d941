package bots

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/platform/wire"
)

// Kind is the kind of every agent.
const Kind = "ai_bot"

// Profile holds an agent's own description of itself, as a group (§2.1).
type Profile struct {
	Specialty     string `json:"specialty"`
	Bio           string `json:"bio"`
	ProfilePublic bool   `json:"profile_public"`
}

// AppendJSON implements wire.Appender.
func (p *Profile) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.String("specialty", p.Specialty)
	w.String("bio", p.Bio)
	w.Bool("profile_public", p.ProfilePublic)
	return w.End()
}

// Image is a file that serves as an avatar or character.
type Image = attachments.Card

// Visuals are the images of an agent and the description of its character (§2.1).
type Visuals struct {
	Avatar               *Image `json:"avatar"`
	Character            *Image `json:"character"`
	CharacterDescription string `json:"character_description"`
}

// AppendJSON implements wire.Appender.
func (v *Visuals) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.CardOrNull(&w, "avatar", v.Avatar)
	wire.CardOrNull(&w, "character", v.Character)
	w.String("character_description", v.CharacterDescription)
	return w.End()
}

// Lifecycle is the state of an agent (§3.4): active, trash or deleted.
type Lifecycle struct {
	State string `json:"state"`
}

// AppendJSON implements wire.Appender.
func (l *Lifecycle) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.String("state", l.State)
	return w.End()
}

// KeyLog says where the agent's entry stands in the key log, and with which salt its commitment opens (§12.2). Both are null until it
// is appended.
type KeyLog struct {
	Index *int64 `json:"index" db:"index"`
	Salt  []byte `json:"salt" db:"salt"`
}

// AppendJSON implements wire.Appender.
func (k *KeyLog) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.IntOrNull("index", k.Index)
	w.BytesOrNull("salt", k.Salt)
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

// AppendJSON implements wire.Appender.
func (o *Own) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	w.UUID("id", o.ID)
	w.String("handle", o.Handle)
	w.String("display_name", o.DisplayName)
	w.String("kind", o.Kind)
	w.Bytes("encryption_public_key", o.EncryptionPublicKey)
	w.String("encryption_key_fingerprint", o.EncryptionKeyFingerprint)
	w.Card("key_log", &o.KeyLog)
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

// AppendJSON implements wire.Appender.
func (o *OwnBot) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.CardOrNull(&w, "bot", o.Bot)
	return w.End()
}

// Registration is a new passport and its token, which no later read returns (§4.1).
type Registration struct {
	Bot            *Own      `json:"bot"`
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// AppendJSON implements wire.Appender.
func (r *Registration) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.CardOrNull(&w, "bot", r.Bot)
	w.String("token", r.Token)
	w.Time("token_expires_at", r.TokenExpiresAt)
	return w.End()
}
