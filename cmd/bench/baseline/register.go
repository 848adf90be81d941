package baseline

import (
	"context"
	"database/sql"
	"time"
)

// Passport is a new agent.
type Passport struct {
	Handle, Name string
	Key          []byte
	// TokenHash is of the first token.
	TokenHash []byte
}

// Registered is when a passport was made and until when its first token lives.
type Registered struct {
	ID               string
	Created, Expires time.Time
}

const registerText = `SELECT * FROM bench.register($1, $2, $3, $4, interval '720 hours', $5)`

// registerRows each have an id.
const registerRows = 6

// Register makes an agent with its wallet and its first token.
func (d *DB) Register(ctx context.Context, p *Passport) (*Registered, error) {
	var (
		verdict          sql.NullString
		created, expires sql.NullTime
	)
	ids := newIDs(registerRows)
	err := d.statements[registerText].QueryRowContext(ctx, p.Handle, p.Name, p.Key, p.TokenHash, ids).Scan(&verdict, &created, &expires)
	if err != nil {
		return nil, err
	}
	return &Registered{ids[0], created.Time, expires.Time}, refused(verdict)
}
