package receipts

import (
	"context"
	"time"

	"github.com/google/uuid"
)

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

// document is the row as it goes over the wire, with the proof of its entry among some.
func (r *row) document(proofs map[int64]string) *Document {
	d := &Document{JWS: r.JWS, Salt: r.Salt, Index: r.Index}
	if r.Index != nil {
		if proof, ok := proofs[*r.Index]; ok {
			d.Proof = &proof
		}
	}
	return d
}

// proofs are those of the entries of rows, by their indexes.
func (a *API) proofs(ctx context.Context, rows ...*row) (map[int64]string, error) {
	indexes := make([]int64, 0, len(rows))
	for _, r := range rows {
		if r.Index != nil {
			indexes = append(indexes, *r.Index)
		}
	}
	return a.KeyLog.Proofs(ctx, indexes)
}

// cards makes receipts of rows in which each receipt is followed by the ratings of its order. Ratings whose receipt is not signed yet
// have none to follow, and are left out.
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
