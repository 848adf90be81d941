package receipts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"stoa/ent/attachment"
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
	Issuer           string     `json:"iss"`
	IssuedAt         int64      `json:"iat"`
	ID               uuid.UUID  `json:"jti"`
	OrderID          uuid.UUID  `json:"sub"`
	Version          int        `json:"v"`
	Environment      string     `json:"environment"`
	Unit             string     `json:"unit"`
	Outcome          string     `json:"outcome"`
	OrderVersion     int        `json:"order_version"`
	Customer         party      `json:"customer"`
	Contractor       party      `json:"contractor"`
	AuthorID         uuid.UUID  `json:"author_id"`
	AmountMinor      int64      `json:"amount_minor"`
	FeeMinor         int64      `json:"fee_minor"`
	TotalMinor       int64      `json:"total_minor"`
	FeeBps           int64      `json:"fee_bps"`
	TermsSHA256      string     `json:"terms_sha256"`
	InputFiles       []file     `json:"input_files"`
	ResultFiles      []file     `json:"result_files"`
	ResultTextSHA256 *string    `json:"result_text_sha256"`
	Deadline         time.Time  `json:"deadline"`
	CreatedAt        time.Time  `json:"created_at"`
	FundedAt         *time.Time `json:"funded_at"`
	DeliveredAt      *time.Time `json:"delivered_at"`
	ClosedAt         *time.Time `json:"closed_at"`
	History          []step     `json:"history"`
	Ledger           []transfer `json:"ledger"`
	TaskID           *uuid.UUID `json:"task_id"`
	LogKey           string     `json:"log_key"`
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

type file struct {
	SHA256    string  `db:"sha256" json:"sha256"`
	SizeBytes int64   `db:"size_bytes" json:"size_bytes"`
	MediaType *string `db:"media_type" json:"media_type"`
}

// step is a step of the order's history.
type step struct {
	Action        string    `db:"action" json:"action"`
	ParticipantID uuid.UUID `db:"participant_id" json:"participant_id"`
	Version       int       `db:"version" json:"version"`
	At            time.Time `db:"at" json:"at"`
	ReasonSHA256  *string   `json:"reason_sha256"`
}

// transfer is a transaction of the ledger and its amount.
type transfer struct {
	TransactionID uuid.UUID `db:"transaction_id" json:"transaction_id"`
	Kind          string    `db:"kind" json:"kind"`
	TotalMinor    int64     `db:"total_minor" json:"total_minor"`
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

// rating is the payload of a rating's document. The hash of the text is null if the author was deleted before the document was made.
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

func textHash(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return new(hashOf([]byte(*text)))
}

// sources holds the orders, ratings and files that a batch of documents refers to. Five statements read the whole batch.
type sources struct {
	orders  map[uuid.UUID]*closedOrder
	ratings map[uuid.UUID]*givenRating
	// The steps and transfers of each order, oldest first, and its files of each kind in their order.
	steps     map[uuid.UUID][]step
	transfers map[uuid.UUID][]transfer
	bound     map[use][]file
}

// use is an order and a kind of its files.
type use struct {
	OrderID uuid.UUID            `db:"order_id"`
	Kind    attachment.BoundKind `db:"kind"`
}

// closedOrder is an order as its receipt shows it, and the texts that the receipt contains as hashes.
type closedOrder struct {
	receipt

	Title, Description string
	ResultText         *string
}

// givenRating is a rating as its document shows it. The text is null if its author is deleted.
type givenRating struct {
	rating

	Text *string
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
	of := &sources{
		orders: make(map[uuid.UUID]*closedOrder), ratings: make(map[uuid.UUID]*givenRating),
		steps: make(map[uuid.UUID][]step), transfers: make(map[uuid.UUID][]transfer), bound: make(map[use][]file),
	}
	if err := of.readOrders(ctx, tx, ordersOf); err != nil {
		return nil, err
	}
	given, err := db.All[givenRating](ctx, tx.SQL, named("read_ratings_of_receipts"), db.IDs(ratingsOf))
	if err != nil {
		return nil, err
	}
	for _, r := range given {
		of.ratings[r.ID] = r
	}
	return of, nil
}

func (src *sources) readOrders(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	closed, err := db.All[closedOrder](ctx, tx.SQL, named("read_orders_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, o := range closed {
		src.orders[o.OrderID] = o
	}
	taken, err := db.All[struct {
		OrderID uuid.UUID `db:"order_id"`
		Reason  *string   `db:"reason"`
		step
	}](ctx, tx.SQL, named("read_steps_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, s := range taken {
		s.ReasonSHA256 = textHash(s.Reason)
		src.steps[s.OrderID] = append(src.steps[s.OrderID], s.step)
	}
	moved, err := db.All[struct {
		OrderID uuid.UUID `db:"order_id"`
		transfer
	}](ctx, tx.SQL, named("read_transfers_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, t := range moved {
		src.transfers[t.OrderID] = append(src.transfers[t.OrderID], t.transfer)
	}
	bound, err := db.All[struct {
		use
		file
	}](ctx, tx.SQL, named("read_files_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, f := range bound {
		src.bound[f.use] = append(src.bound[f.use], f.file)
	}
	return nil
}
