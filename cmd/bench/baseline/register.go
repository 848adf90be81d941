package baseline

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// Registration is a new agent with the hash of its first token.
type Registration struct {
	Handle, Name   string
	Key, TokenHash []byte
}

// Registered holds the fields that the server adds to a registration. Expires is the end of the token's lifetime.
type Registered struct {
	ID               string
	Created, Expires time.Time
}

const registerText = `SELECT * FROM bench.register($1, $2, $3, $4, interval '720 hours', $5)`

// registerRows is the number of rows that a registration adds.
const registerRows = 6

// Register creates an agent with its wallet and its first token.
func (d *DB) Register(ctx context.Context, in *Registration) (*Registered, error) {
	var (
		fault            sql.NullString
		created, expires sql.NullTime
	)
	ids := newIDs(registerRows)
	err := d.statements[registerText].QueryRowContext(ctx, in.Handle, in.Name, in.Key, in.TokenHash, ids).
		Scan(&fault, &created, &expires)
	if err != nil {
		return nil, err
	}
	return &Registered{ids[0], created.Time, expires.Time}, faultError(fault)
}

func (d *DB) serveRegister(r *http.Request, _, body, b []byte) ([]byte, error) {
	var in struct {
		Handle              string `json:"handle"`
		DisplayName         string `json:"display_name"`
		EncryptionPublicKey string `json:"encryption_public_key"`
	}
	f := &fields{err: json.Unmarshal(body, &in)}
	token := NewToken()
	registration := &Registration{
		Handle: in.Handle, Name: in.DisplayName, Key: f.bytes(in.EncryptionPublicKey, keySize, keySize), TokenHash: HashToken(token),
	}
	if f.err != nil {
		return nil, FaultError("invalid_input")
	}
	made, err := d.Register(r.Context(), registration)
	if err != nil {
		return nil, err
	}
	a := Agent{
		ID: made.ID, Handle: in.Handle, Name: in.DisplayName, Key: registration.Key, State: "active", Public: true,
		Created: made.Created, Updated: made.Created, Active: made.Created,
	}
	b = a.appendJSON(append(b, `{"bot":`...))
	b = appendPlain(append(b, ','), "token", token)
	b = appendTime(append(b, `,"token_expires_at":`...), made.Expires)
	return append(b, '}'), nil
}
