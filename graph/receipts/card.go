package receipts

import (
	"time"

	"github.com/google/uuid"
)

// Document is a signed document, and what ties it to the key log (§12.5).
type Document struct {
	// JWS is the document: a JSON Web Signature in its compact form.
	JWS string `json:"jws"`
	// Salt opens the document's entry in the key log, 16 bytes.
	Salt []byte `json:"salt"`
	// Index is that of the entry; null until the log holds it, as Proof is.
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
