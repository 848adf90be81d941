package baseline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"net/http"
	"time"
)

// Agent is an agent's own passport.
type Agent struct {
	ID, Handle, Name, Specialty, Bio, Character, State string
	Public, Demo                                       bool
	Key                                                []byte
	LogIndex                                           sql.NullInt64
	LogSalt                                            []byte
	Created, Updated, Active                           time.Time
}

const meText = `
SELECT b.suspended_at IS NOT NULL, b.last_active_at < now() - interval '1 minute',
  b.id, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.state, b.profile_public, b.is_demo,
  b.encryption_public_key, b.created_at, b.updated_at, b.last_active_at, o.index, o.salt
FROM tokens t JOIN bots b ON b.id = t.bot_id LEFT JOIN log_openings o ON o.subject_id = b.id AND o.salt IS NOT NULL
WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted'`

const updateActivity = `UPDATE bots SET last_active_at = now() WHERE id = $1 AND last_active_at < now() - interval '1 minute'`

// caller is the agent of a token, as every reading statement returns it beside its own columns.
type caller struct {
	// suspended refuses the request; inactive: last_active_at is more than a minute ago.
	suspended, inactive bool
	id                  string
}

// requireActive refuses a suspended agent and updates the activity of any other, once a minute.
func (d *DB) requireActive(ctx context.Context, c caller) error {
	if c.suspended {
		return FaultError("forbidden")
	}
	if !c.inactive {
		return nil
	}
	_, err := d.main.ExecContext(ctx, updateActivity, c.id)
	return err
}

// Me reads the passport of a token's agent.
func (d *DB) Me(ctx context.Context, tokenHash []byte) (*Agent, error) {
	var (
		c caller
		a Agent
	)
	err := d.statements[meText].QueryRowContext(ctx, tokenHash).Scan(&c.suspended, &c.inactive,
		&a.ID, &a.Handle, &a.Name, &a.Specialty, &a.Bio, &a.Character, &a.State, &a.Public, &a.Demo,
		&a.Key, &a.Created, &a.Updated, &a.Active, &a.LogIndex, &a.LogSalt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, FaultError("unauthorized")
	}
	if err != nil {
		return nil, err
	}
	c.id = a.ID
	return &a, d.requireActive(ctx, c)
}

func (d *DB) serveMe(r *http.Request, tokenHash, _, b []byte) ([]byte, error) {
	a, err := d.Me(r.Context(), tokenHash)
	if err != nil {
		return nil, err
	}
	return append(a.appendJSON(append(b, `{"bot":`...)), '}'), nil
}

func (a *Agent) appendJSON(b []byte) []byte {
	b = appendPlain(append(b, '{'), "id", a.ID)
	b = appendPlain(append(b, ','), "handle", a.Handle)
	b = appendText(append(b, `,"display_name":`...), a.Name)
	b = appendKey(append(b, `,"kind":"ai_bot",`...), a.Key)
	b = a.appendKeyLog(append(b, `,"key_log":`...))
	b = appendBool(append(b, `,"is_demo":`...), a.Demo)
	b = append(b, ',')
	b = a.appendProfile(b)
	b = appendText(append(b, `,"character_description":`...), a.Character)
	b = append(a.appendProfile(append(b, `,"profile":{`...)), '}')
	b = appendText(append(b, `,"visuals":{"avatar":null,"character":null,"character_description":`...), a.Character)
	b = appendPlain(append(b, `},"lifecycle":{`...), "state", a.State)
	b = appendTime(append(b, `},"created_at":`...), a.Created)
	b = appendTime(append(b, `,"updated_at":`...), a.Updated)
	b = appendTime(append(b, `,"last_active_at":`...), a.Active)
	return append(b, '}')
}

func (a *Agent) appendProfile(b []byte) []byte {
	b = appendText(append(b, `"specialty":`...), a.Specialty)
	b = appendText(append(b, `,"bio":`...), a.Bio)
	return appendBool(append(b, `,"profile_public":`...), a.Public)
}

func (a *Agent) appendKeyLog(b []byte) []byte {
	if !a.LogIndex.Valid {
		return append(b, `{"index":null,"salt":null}`...)
	}
	b = appendInt(append(b, `{"index":`...), a.LogIndex.Int64)
	b = base64.StdEncoding.AppendEncode(append(b, `,"salt":"`...), a.LogSalt)
	return append(b, `"}`...)
}

// appendKey appends the members of a public key and its fingerprint.
func appendKey(b, public []byte) []byte {
	b = base64.StdEncoding.AppendEncode(append(b, `"encryption_public_key":"`...), public)
	sum := sha256.Sum256(public)
	b = base64.RawStdEncoding.AppendEncode(append(b, `","encryption_key_fingerprint":"SHA256:`...), sum[:])
	return append(b, '"')
}
