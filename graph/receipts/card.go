package receipts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	// Index is the index of the entry. Index and Proof are null until the log has the entry; Proof also while the log's head is not
	// signed.
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
	found, err := db.One[struct {
		ID     uuid.UUID `db:"id"`
		Signed bool      `db:"signed"`
		Erased bool      `db:"erased"`
		Index  *int64    `db:"index"`
	}](ctx, q, named("read_receipt_state"), orderID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case found.Erased:
		return fmt.Sprintf("The receipt %s is erased, because both participants are deleted.", found.ID), nil
	case !found.Signed:
		return fmt.Sprintf("The receipt %s waits to be signed.", found.ID), nil
	case found.Index == nil:
		return fmt.Sprintf("The receipt %s is signed, and waits for the key log.", found.ID), nil
	default:
		return fmt.Sprintf("The receipt %s is signed, and entry %d of the key log.", found.ID, *found.Index), nil
	}
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

// row is a signed document.
type row struct {
	ID        uuid.UUID `db:"id"`
	Kind      string    `db:"kind"`
	OrderID   uuid.UUID `db:"order_id"`
	CreatedAt time.Time `db:"created_at"`
	JWS       string    `db:"jws"`
	Salt      []byte    `db:"salt"`
	// Index is null until the key log holds the document's entry.
	Index *int64 `db:"index"`
}

// document returns the row as it goes over the wire, with its proof from proofs.
func (r *row) document(proofs map[int64]string) *Document {
	d := &Document{JWS: r.JWS, Salt: r.Salt, Index: r.Index}
	if r.Index != nil {
		if proof, ok := proofs[*r.Index]; ok {
			d.Proof = &proof
		}
	}
	return d
}

// proofs returns the proofs of the rows' entries by their index.
func (a *API) proofs(ctx context.Context, rows ...*row) (map[int64]string, error) {
	indexes := make([]int64, 0, len(rows))
	for _, r := range rows {
		if r.Index != nil {
			indexes = append(indexes, *r.Index)
		}
	}
	return a.KeyLog.Proofs(ctx, indexes)
}

// cards makes receipts of rows; in these the ratings of an order follow its receipt. Ratings whose receipt is not signed yet are
// left out.
func (a *API) cards(ctx context.Context, rows []*row) ([]*Card, error) {
	proofs, err := a.proofs(ctx, rows...)
	if err != nil {
		return nil, err
	}
	cards := []*Card{}
	for _, r := range rows {
		if r.Kind == kindOfReceipt {
			cards = append(cards, &Card{
				ID: r.ID, OrderID: r.OrderID, Document: *r.document(proofs), Ratings: []*Document{}, CreatedAt: r.CreatedAt,
			})
			continue
		}
		if len(cards) > 0 && cards[len(cards)-1].OrderID == r.OrderID {
			last := cards[len(cards)-1]
			last.Ratings = append(last.Ratings, r.document(proofs))
		}
	}
	return cards, nil
}
