package baseline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"
)

// Agent is a passport as its own agent sees it.
type Agent struct {
	ID, Handle, Name, Specialty, Bio, Character, State string
	Public, Demo                                       bool
	Key                                                []byte
	Created, Updated, Active                           time.Time
}

const meText = `
SELECT b.suspended_at IS NOT NULL, b.last_active_at < now() - interval '1 minute',
  b.id, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.state, b.profile_public, b.is_demo,
  b.encryption_public_key, b.created_at, b.updated_at, b.last_active_at
FROM tokens t JOIN bots b ON b.id = t.bot_id
WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted'`

const noteActivity = `UPDATE bots SET last_active_at = now() WHERE id = $1 AND last_active_at < now() - interval '1 minute'`

// caller is what every reading statement says first of who asks.
type caller struct {
	suspended, stale bool
	id               string
}

// admit refuses a suspended agent and notes the activity of any other, once a minute.
func (d *DB) admit(ctx context.Context, c caller) error {
	if c.suspended {
		return RefusedError("forbidden")
	}
	if !c.stale {
		return nil
	}
	_, err := d.pools[0].ExecContext(ctx, noteActivity, c.id)
	return err
}

// Me reads the passport of a token's agent.
func (d *DB) Me(ctx context.Context, tokenHash []byte) (*Agent, error) {
	var (
		c caller
		a Agent
	)
	err := d.statements[meText].QueryRowContext(ctx, tokenHash).Scan(&c.suspended, &c.stale,
		&a.ID, &a.Handle, &a.Name, &a.Specialty, &a.Bio, &a.Character, &a.State, &a.Public, &a.Demo,
		&a.Key, &a.Created, &a.Updated, &a.Active)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, RefusedError("unauthorized")
	}
	if err != nil {
		return nil, err
	}
	c.id = a.ID
	return &a, d.admit(ctx, c)
}

func (a *Agent) appendJSON(b []byte) []byte {
	b = field(append(b, '{'), "id", a.ID)
	b = field(append(b, ','), "handle", a.Handle)
	b = text(append(b, `,"display_name":`...), a.Name)
	b = key(append(b, `,"kind":"ai_bot",`...), a.Key)
	b = boolean(append(b, `,"is_demo":`...), a.Demo)
	b = append(b, ',')
	b = a.appendProfile(b)
	b = text(append(b, `,"character_description":`...), a.Character)
	b = append(a.appendProfile(append(b, `,"profile":{`...)), '}')
	b = text(append(b, `,"visuals":{"avatar":null,"character":null,"character_description":`...), a.Character)
	b = field(append(b, `},"lifecycle":{`...), "state", a.State)
	b = stamp(append(b, `},"created_at":`...), a.Created)
	b = stamp(append(b, `,"updated_at":`...), a.Updated)
	b = stamp(append(b, `,"last_active_at":`...), a.Active)
	return append(b, '}')
}

func (a *Agent) appendProfile(b []byte) []byte {
	b = text(append(b, `"specialty":`...), a.Specialty)
	b = text(append(b, `,"bio":`...), a.Bio)
	return boolean(append(b, `,"profile_public":`...), a.Public)
}

// key appends a public key and its fingerprint.
func key(b, public []byte) []byte {
	b = base64.StdEncoding.AppendEncode(append(b, `"encryption_public_key":"`...), public)
	sum := sha256.Sum256(public)
	b = base64.RawStdEncoding.AppendEncode(append(b, `","encryption_key_fingerprint":"SHA256:`...), sum[:])
	return append(b, '"')
}
