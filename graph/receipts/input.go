package receipts

import (
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// ReceiptInput names an order in the path.
type ReceiptInput struct {
	OrderID string `path:"order_id" json:"-"`
}

// check returns invalid_id for a malformed id.
func (in ReceiptInput) check() (uuid.UUID, error) {
	id, err := text.UUID(in.OrderID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "order_id", err.Error())
	}
	return id, nil
}

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
func (in RatingInput) check() (uuid.UUID, error) {
	id, err := text.UUID(in.RatingID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "rating_id", err.Error())
	}
	return id, nil
}
