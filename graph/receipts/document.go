package receipts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/wire"
)

// The types of documents, in their headers.
const (
	receiptType = "stoa-receipt+jwt"
	ratingType  = "stoa-rating+jwt"
)

// Constant members of a payload.
const (
	documentVersion = 1
	environment     = "test"
	unit            = "test_credit"
)

// receipt is the payload of an order's receipt (§12.5). A statement reads the order straight into it. Hashes are SHA-256 in hex,
// null if there was no such text.
type receipt struct {
	Issuer           string         `json:"iss"`
	IssuedAt         int64          `json:"iat"`
	ID               uuid.UUID      `json:"jti"`
	OrderID          uuid.UUID      `json:"sub"`
	Version          int            `json:"v"`
	Environment      string         `json:"environment"`
	Unit             string         `json:"unit"`
	Outcome          string         `json:"outcome"`
	OrderVersion     int            `json:"order_version"`
	Customer         party          `json:"customer"`
	Contractor       party          `json:"contractor"`
	AuthorID         uuid.UUID      `json:"author_id"`
	AmountMinor      int64          `json:"amount_minor"`
	FeeMinor         int64          `json:"fee_minor"`
	TotalMinor       int64          `json:"total_minor"`
	FeeBps           int64          `json:"fee_bps"`
	TermsSHA256      string         `json:"terms_sha256"`
	InputFiles       list[file]     `json:"input_files"`
	ResultFiles      list[file]     `json:"result_files"`
	ResultTextSHA256 *string        `json:"result_text_sha256"`
	Deadline         time.Time      `json:"deadline"`
	CreatedAt        time.Time      `json:"created_at"`
	FundedAt         *time.Time     `json:"funded_at"`
	DeliveredAt      *time.Time     `json:"delivered_at"`
	ClosedAt         *time.Time     `json:"closed_at"`
	History          list[step]     `json:"history"`
	Ledger           list[transfer] `json:"ledger"`
	TaskID           *uuid.UUID     `json:"task_id"`
	LogKey           string         `json:"log_key"`
}

// party is a participant. The fingerprint is null if the agent was deleted before the receipt was made.
type party struct {
	ID             uuid.UUID `json:"id"`
	Handle         string    `json:"handle"`
	Key            []byte    `json:"-"`
	KeyFingerprint *string   `json:"key_fingerprint"`
}

// shown returns the party with the fingerprint of its key.
func (p party) shown() party {
	if p.Key != nil {
		p.KeyFingerprint = new(bots.Fingerprint(p.Key))
	}
	return p
}

// list is a column of JSON.
type list[T any] []T

func (l *list[T]) Scan(column any) error {
	raw, _ := column.([]byte)
	return json.Unmarshal(raw, (*[]T)(l))
}

type file struct {
	SHA256    string  `json:"sha256"`
	SizeBytes int64   `json:"size_bytes"`
	MediaType *string `json:"media_type"`
}

// step is a step of the order's history.
type step struct {
	Action        string    `json:"action"`
	ParticipantID uuid.UUID `json:"participant_id"`
	Version       int       `json:"version"`
	At            time.Time `json:"at"`
	ReasonSHA256  *string   `json:"reason_sha256"`
}

// transfer is a transaction of the ledger and its amount.
type transfer struct {
	TransactionID uuid.UUID `json:"transaction_id"`
	Kind          string    `json:"kind"`
	TotalMinor    int64     `json:"total_minor"`
}

// terms holds the terms that the participants agreed on; a receipt holds their hash.
type terms struct {
	OrderID     uuid.UUID `json:"order_id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Deadline    time.Time `json:"deadline"`
	AmountMinor int64     `json:"amount_minor"`
	FeeBps      int64     `json:"fee_bps"`
	InputFiles  []file    `json:"input_files"`
}

// rating is the payload of a rating's document. The hash of the text is null if the author had been deleted before.
type rating struct {
	Issuer     string    `json:"iss"`
	IssuedAt   int64     `json:"iat"`
	ID         uuid.UUID `json:"jti"`
	OrderID    uuid.UUID `json:"sub"`
	Receipt    uuid.UUID `json:"receipt"`
	AuthorID   uuid.UUID `json:"author_id"`
	SubjectID  uuid.UUID `json:"subject_id"`
	Stars      int       `json:"stars"`
	TextSHA256 *string   `json:"text_sha256"`
	Version    int       `json:"v"`
}

// canonical returns a value as canonical JSON (RFC 8785).
func canonical(value any) ([]byte, error) {
	raw, err := wire.Marshal(value)
	if err != nil {
		return nil, err
	}
	text := jsontext.Value(raw)
	err = text.Canonicalize()
	return text, err
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// sources holds the orders and ratings that a batch of documents refers to. Two statements read the whole batch.
type sources struct {
	orders  map[uuid.UUID]*closedOrder
	ratings map[uuid.UUID]*rating
}

// closedOrder is an order as its receipt shows it, and the texts that the receipt contains only in a hash.
type closedOrder struct {
	receipt

	Title, Description string
}

// readSources reads the sources of documents.
func readSources(ctx context.Context, tx *db.Tx, documents []*unsigned) (*sources, error) {
	var ordersOf, ratingsOf []uuid.UUID
	for _, d := range documents {
		if d.Kind == kindOfReceipt {
			ordersOf = append(ordersOf, d.OrderID)
		} else {
			ratingsOf = append(ratingsOf, d.ID)
		}
	}
	closed, err := db.All[closedOrder](ctx, tx.SQL, named("read_orders_of_receipts"), db.IDs(ordersOf))
	if err != nil {
		return nil, err
	}
	given, err := db.All[rating](ctx, tx.SQL, named("read_ratings_of_receipts"), db.IDs(ratingsOf))
	if err != nil {
		return nil, err
	}
	of := &sources{make(map[uuid.UUID]*closedOrder, len(closed)), make(map[uuid.UUID]*rating, len(given))}
	for _, o := range closed {
		of.orders[o.OrderID] = o
	}
	for _, r := range given {
		of.ratings[r.ID] = r
	}
	return of, nil
}
