package bots

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
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

// ownRow is the row of select_passport: a passport and the ids of its images.
type ownRow struct {
	Own
	AvatarID, CharacterID *uuid.UUID
}

func (r *ownRow) Columns() []any {
	return []any{
		&r.ID, &r.CreatedAt, &r.UpdatedAt, &r.Handle, &r.DisplayName, &r.Specialty, &r.Bio, &r.CharacterDescription, &r.ProfilePublic,
		&r.AvatarID, &r.CharacterID, &r.EncryptionPublicKey, &r.IsDemo, &r.Lifecycle.State, &r.LastActiveAt, &r.KeyLog.Index, &r.KeyLog.Salt,
	}
}

func (r *ownRow) Next() {}

// readOwn returns an agent's own passport.
func readOwn(ctx context.Context, q db.Querier, botID uuid.UUID) (*OwnBot, error) {
	r, err := db.One[ownRow](ctx, q, named("select_passport"), botID)
	if err != nil {
		return nil, err
	}
	return r.result(ctx, q)
}

// result reads the images of a passport, and completes it.
func (r *ownRow) result(ctx context.Context, q db.Querier) (*OwnBot, error) {
	visuals, err := VisualsOf(ctx, q, r.ID, Pictured{r.ID, r.AvatarID, r.CharacterID, r.CharacterDescription})
	if err != nil {
		return nil, err
	}
	r.Visuals = visuals[r.ID]
	r.Own.complete()
	return &OwnBot{Bot: &r.Own}, nil
}

// complete sets the members that follow from other members.
func (o *Own) complete() {
	o.Kind, o.EncryptionKeyFingerprint = Kind, Fingerprint(o.EncryptionPublicKey)
	o.Profile = Profile{Specialty: o.Specialty, Bio: o.Bio, ProfilePublic: o.ProfilePublic}
	o.Visuals.CharacterDescription = o.CharacterDescription
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

// RequireActive returns inactive_bot unless all of these agents, each named once, may take on new obligations: active, not
// suspended, not restricted (§3.4). It checks no caller.
func RequireActive(ctx context.Context, tx *db.Tx, agents ...uuid.UUID) error {
	active, err := db.Column[uuid.UUID](ctx, tx.SQL, named("select_active"), db.IDs(agents))
	if err == nil && len(active) < len(agents) {
		err = fault.New(fault.InactiveBot)
	}
	return err
}

// Lock locks an agent's row until the transaction ends. Facts that the lock protects, such as the number of the agent's records
// of a kind, must be read by a later statement. A text that the transaction writes is erased if the agent is deleted later.
// Fault: unauthorized if it is deleted already.
func Lock(ctx context.Context, tx *db.Tx, agent uuid.UUID) error {
	found, err := db.Column[uuid.UUID](ctx, tx.SQL, named("lock_agent"), agent)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.Unauthorized)
	}
	return err
}

// LeaveTrash makes an agent in the trash active; any other agent stays unchanged. Only restoring and operators' procedures call
// it (§3.4).
func (a *API) LeaveTrash(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	return db.Exec(ctx, tx.SQL, named("leave_trash"), botID)
}

// trashBatch is how many agents one statement examines.
const trashBatch = 1000

// Trash moves inactive agents to the trash and returns their number (§3.4); it does nothing before an operator has activated the
// lifecycle. Each batch commits, so it may be stopped half-way, run again and run in several processes at once. Passport, balance
// and ledger stay. Only jobs and operators' procedures call it.
func (a *API) Trash(ctx context.Context) (moved int64, err error) {
	return a.DB.Walk(ctx, named("trash_idle"), trashBatch)
}
