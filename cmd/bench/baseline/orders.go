package baseline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Offer is a customer's new order.
type Offer struct {
	Operation, Contractor uuid.UUID
	Title, Description    string
	Deadline              time.Time
	Amount, Confirmed     int64
	// Raw is the request by which a repeat is told.
	Raw []byte
}

// Step is an action on an order.
type Step struct {
	Operation, Order uuid.UUID
	Action           string
	Version          int64
	Confirmed        *int64
	Result           *string
	Raw              []byte
}

const (
	offerText = `SELECT verdict, answer FROM bench.offer($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10)`
	actText   = `SELECT verdict, answer FROM bench.act($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)`
)

// Rows that an offer and a step leave behind at most, each with an id of its own.
const (
	offerRows = 5
	stepRows  = 8
)

// Create makes an order and returns its card as JSON.
func (d *DB) Create(ctx context.Context, tokenHash []byte, o *Offer) (string, error) {
	return d.order(ctx, offerText, tokenHash, o.Operation, fingerprint("create", o.Raw), o.Contractor, o.Title, o.Description,
		o.Deadline, o.Amount, o.Confirmed, newIDs(offerRows))
}

// Act takes an order one step further and returns its card as JSON.
func (d *DB) Act(ctx context.Context, tokenHash []byte, s *Step) (string, error) {
	return d.order(ctx, actText, tokenHash, s.Operation, fingerprint(s.Action, s.Raw), s.Order, s.Action, s.Version, s.Confirmed, s.Result, newIDs(stepRows))
}

func (d *DB) order(ctx context.Context, query string, args ...any) (string, error) {
	var verdict, answer sql.NullString
	if err := d.statements[query].QueryRowContext(ctx, args...).Scan(&verdict, &answer); err != nil {
		return "", err
	}
	return answer.String, refused(verdict)
}

func fingerprint(action string, raw []byte) []byte {
	sum := sha256.New()
	sum.Write([]byte(action))
	sum.Write(raw)
	return sum.Sum(nil)
}

func newIDs(n int) pq.StringArray {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID().String()
	}
	return ids
}
