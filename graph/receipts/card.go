package receipts

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
)

// Document is a signed document with its proof by the key log (§12.5).
type Document struct {
	// JWS is the document: a JSON Web Signature in its compact form.
	JWS string `json:"jws"`
	// Salt opens the document's entry in the key log, 16 bytes.
	Salt []byte `json:"salt"`
	// Index is the index of the entry. Index and Proof are null until the log has the entry; Proof also while the log's head is
	// not signed.
	Index *int64 `json:"index"`
	// Proof is the text of a tlog-proof file.
	Proof *string `json:"proof"`
}

// Card is the receipt of an order, with the documents of its ratings (§2.12).
type Card struct {
	ID      uuid.UUID `json:"id"`
	OrderID uuid.UUID `json:"order_id"`
	Document
	Ratings   []*Document `json:"ratings"`
	CreatedAt time.Time   `json:"created_at"`
}

// Result is one receipt, as REST wraps it. `stoa verify` reads it as a file.
type Result struct {
	Receipt *Card `json:"receipt"`
}

// List is a page of receipts, newest first.
type List struct {
	Receipts []*Card `json:"receipts"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// PublicDocument is the document of a rating, as anyone reads it without a token.
type PublicDocument struct {
	Rating *Document `json:"rating"`
}

// Summary returns the state of the receipt of an order, in a sentence; empty if it has none. It checks no caller.
func Summary(ctx context.Context, q db.Querier, orderID uuid.UUID) (string, error) {
	found, err := db.Column[string](ctx, q, named("receipt_summary"), orderID)
	return strings.Join(found, ""), err
}

// ReceiptInput names an order in the path.
type ReceiptInput struct {
	OrderID string `path:"order_id" json:"-"`
}

// check returns invalid_id for a malformed id.
func (in ReceiptInput) check() (uuid.UUID, error) { return input.ID("order_id", in.OrderID) }

// ListInput is a page of receipts.
type ListInput struct {
	// Before is the last receipt of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// check returns invalid_id unless before is a UUID or was not sent.
func (in ListInput) check() (*uuid.UUID, error) { return page.ID("before", in.Before) }

// RatingInput names a rating.
type RatingInput struct{ RatingID string }

// check returns invalid_id for a malformed id.
func (in RatingInput) check() (uuid.UUID, error) { return input.ID("rating_id", in.RatingID) }

// kindOfReceipt is the kind of the row of an order's receipt; the others are ratings.
const kindOfReceipt = "order"

// row is a signed document. Statements read its columns straight into the Document.
type row struct {
	ID        uuid.UUID
	Kind      string
	OrderID   uuid.UUID
	CreatedAt time.Time
	Document
}

// prove adds the proofs to documents.
func (a *API) prove(ctx context.Context, rows ...*row) error {
	proofs, err := a.KeyLog.Proofs(ctx, page.Map(rows, func(r *row) *int64 { return r.Index })...)
	if err != nil {
		return err
	}
	for i, r := range rows {
		r.Proof = proofs[i]
	}
	return nil
}

// cards makes receipts from rows, in which the ratings of an order follow its receipt. Ratings whose receipt is not signed yet
// are left out.
func (a *API) cards(ctx context.Context, rows []*row) ([]*Card, error) {
	if err := a.prove(ctx, rows...); err != nil {
		return nil, err
	}
	cards := []*Card{}
	for _, r := range rows {
		if r.Kind == kindOfReceipt {
			cards = append(cards, &Card{ID: r.ID, OrderID: r.OrderID, Document: r.Document, Ratings: []*Document{}, CreatedAt: r.CreatedAt})
			continue
		}
		if len(cards) > 0 && cards[len(cards)-1].OrderID == r.OrderID {
			last := cards[len(cards)-1]
			last.Ratings = append(last.Ratings, &r.Document)
		}
	}
	return cards, nil
}
