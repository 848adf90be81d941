// Package auth maps bearer tokens to callers and manages tokens: authentication, rotation, revocation, and the end of tokens with
// which connections were opened (§3.3, §5).
//
// A token is shown once and stored only as its SHA-256. Authenticating a request is one statement, which also counts a change.
package auth

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

//go:embed auth.sql
var files embed.FS

var named = db.Load(files).Named

// Ending is why tokens of an agent stopped working.
type Ending string

// The endings.
const (
	TokenReplaced Ending = "token_replaced"
	TokenRevoked  Ending = "token_revoked"
	TokenReissued Ending = "token_reissued"
	Restored      Ending = "restored"
	Suspended     Ending = "suspended"
)

// Endings lists every Ending.
var Endings = []Ending{TokenReplaced, TokenRevoked, TokenReissued, Restored, Suspended}

// API authenticates callers and replaces and ends tokens. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// TokenTTL is the lifetime of a new token.
	TokenTTL time.Duration
	// TokensEnded is called after a commit that ended tokens, so that their sockets close. It must not block.
	TokensEnded func()
	// PauseWebhooks pauses the webhooks of an agent in the transaction that ends its tokens or suspends it, with the agent's row
	// locked: a thief of a token may have created them.
	PauseWebhooks func(ctx context.Context, tx *db.Tx, botID uuid.UUID, why Ending) error
}

// Authenticate returns the agent of a bearer token (§5). Faults: unauthorized if the token is missing, malformed, unknown,
// expired, revoked, or of a deleted agent (if it was once valid, the message tells why and when it ended); forbidden for a
// suspended agent, with an operator's text to it; write_limited for a change over the limit of changes a minute, which all tokens
// of an agent share. It notes the agent's activity.
func (a *API) Authenticate(ctx context.Context, token string, mutating bool) (viewer.Viewer, error) {
	return a.AuthenticateAlong(ctx, token, mutating, nil)
}

// AuthenticateAlong is Authenticate with a read in the same statement, unless along is nil. For a change, along is ignored.
func (a *API) AuthenticateAlong(ctx context.Context, token string, mutating bool, along *Along) (viewer.Viewer, error) {
	if !WellFormed(token) {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	found, err := a.lookUp(ctx, token, mutating, along)
	if err != nil {
		return viewer.Viewer{}, fault.From(err)
	}
	if found.Kind != viewer.Agent {
		return viewer.Viewer{}, fault.From(a.refusal(ctx, a.DB.SQL, HashToken(token), uuid.Nil))
	}
	if found.suspended {
		return viewer.Viewer{}, a.suspension(ctx, found.BotID)
	}
	if mutating && found.taken.Quota > 0 {
		found.taken.Reset = limits.Seconds(found.resetSeconds)
		limits.Note(ctx, found.taken)
		if err := found.taken.Fault(); err != nil {
			return viewer.Viewer{}, err
		}
	}
	if found.stale {
		if err := a.NoteActivity(ctx, []uuid.UUID{found.BotID}); err != nil {
			return viewer.Viewer{}, err
		}
		found.Along = nil // it was read before the activity was noted
	}
	return found.Viewer, nil
}

// suspension returns forbidden, with the text that an operator wrote to the suspended agent.
func (a *API) suspension(ctx context.Context, botID uuid.UUID) error {
	said, err := db.Column[string](ctx, a.DB.SQL, named("select_suspension"), botID)
	if err != nil {
		return fault.From(err)
	}
	return fault.New(fault.Forbidden).Say(strings.Join(append([]string{"This agent is suspended."}, said...), " The operators say: "))
}

// holder is the agent of a token, with the state of its limit if the request is a change.
type holder struct {
	viewer.Viewer

	// stale reports that its activity must be noted again.
	suspended, stale bool
	taken            limits.Taken
	// resetSeconds is the time until the whole quota is available again.
	resetSeconds float64
}

// lookUp reads the agent of a token. It counts a change, or else runs the read of along. Kind is set only if the agent exists.
func (a *API) lookUp(ctx context.Context, token string, mutating bool, along *Along) (*holder, error) {
	h := &holder{taken: limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}}
	statement, args, next := named("authenticate"), []any{HashToken(token)}, func() {}
	columns := []any{&h.TokenID, &h.BotID, &h.suspended, &h.stale}
	switch {
	case mutating:
		statement, args = named("authenticate_change"), append(args, h.taken.Quota)
		columns = append(columns, &h.taken.Allowed, &h.taken.Remaining, &h.resetSeconds)
	case along != nil:
		read := along.rows()
		h.Along, statement, next = read, along.statement, read.Next
		columns = append(columns, read.Columns()...)
	}
	err := db.Each(ctx, a.DB.SQL, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		h.Kind = viewer.Agent
		next()
		return nil
	}, statement, args...)
	if err == nil && h.Along != nil && h.Kind != viewer.Agent { // the token is wrong, or the read has no rows
		return a.lookUp(ctx, token, false, nil)
	}
	return h, err
}

// NoteActivity notes that agents send requests or hold an open socket (§3.4). It writes at most once a minute for each agent.
func (a *API) NoteActivity(ctx context.Context, botIDs []uuid.UUID) error {
	return db.Exec(ctx, a.DB.SQL, named("note_activity"), db.IDs(botIDs))
}

// A token is tokenPrefix, 43 base62 characters of at least 256 random bits, and a base62 CRC32 of all before it, so that a
// mistyped token is refused without a look-up, and secret scanners can find leaked ones.
const (
	tokenPrefix   = "stoa_"
	secretLength  = 43
	checkLength   = 6
	tokenLength   = len(tokenPrefix) + secretLength + checkLength
	base62Digits  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomCeiling = 248 // the largest multiple of 62 that fits a byte: bytes above it would favour some digits
)

// NewToken makes a random bearer token.
func NewToken() string {
	return newToken(func(random []byte) { rand.Read(random) }) // it ends the program when the system has no randomness
}

// DeriveToken derives a bearer token from another secret (HKDF, RFC 5869). So a caller that proves that it knows the secret can
// get the token again, although no token is stored. info names the purpose of the token.
func DeriveToken(installationKey []byte, secret, info string) string {
	round := 0
	return newToken(func(random []byte) {
		derived, err := hkdf.Key(sha256.New, []byte(secret), installationKey, info+" "+strconv.Itoa(round), len(random))
		if err != nil {
			panic(err) // only for lengths of more than 255 hashes
		}
		copy(random, derived)
		round++
	})
}

// newToken makes a token from the random bytes that read fills in.
func newToken(read func(random []byte)) string {
	var b strings.Builder
	b.Grow(tokenLength)
	b.WriteString(tokenPrefix)
	var random [64]byte
	for b.Len() < len(tokenPrefix)+secretLength {
		read(random[:])
		for _, r := range random {
			if r < randomCeiling && b.Len() < len(tokenPrefix)+secretLength {
				b.WriteByte(base62Digits[r%62])
			}
		}
	}
	b.WriteString(tokenCheck(b.String()))
	return b.String()
}

// WellFormed reports whether s has the form and the checksum of a token.
func WellFormed(s string) bool {
	body := tokenLength - checkLength
	return len(s) == tokenLength && strings.HasPrefix(s, tokenPrefix) && tokenCheck(s[:body]) == s[body:]
}

func tokenCheck(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	digits := make([]byte, checkLength)
	for i := range digits {
		digits[checkLength-1-i] = base62Digits[sum%62]
		sum /= 62
	}
	return string(digits)
}

// HashToken returns the SHA-256 of a token, the only form in which it is stored.
func HashToken(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// Along is a read that runs in the statement that authenticates its caller: one round trip instead of two. Authenticate puts the
// rows into viewer.Viewer.Along. If that is nil (no rows, or a request over GraphQL), the method reads by itself.
type Along struct {
	statement *db.Statement
	rows      func() AlongRows
}

// AlongRows receives the rows of one request.
type AlongRows interface {
	// Columns returns the destinations of each row's columns.
	Columns() []any
	// Next stores the row that was scanned into the columns.
	Next()
}

// NewAlong makes an Along of a statement whose only parameter is the caller.
func NewAlong[T AlongRows](s *db.Statement, rows func() T) *Along {
	read := strings.ReplaceAll(s.Text, "$1", "me.bot_id")
	return &Along{
		statement: &db.Statement{
			Text: "WITH me AS MATERIALIZED (" + named("authenticate").Text + ") SELECT * FROM me CROSS JOIN LATERAL (" + read + ") read",
		},
		rows: func() AlongRows { return rows() },
	}
}
