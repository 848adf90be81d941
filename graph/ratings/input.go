package ratings

import (
	"errors"

	"github.com/google/uuid"

	"stoa/graph/orders"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// Bounds of a rating (§2.10); the text is counted in characters.
const (
	minStars = 1
	maxStars = 5
	maxText  = bounds.RatingText
)

var (
	errRequired = errors.New("is required")
	errStars    = errors.New("must be an integer from 1 to 5")
)

// RateInput is a rating of an order's other participant: the path and its body (§4.7). A nil field was not sent.
type RateInput struct {
	OrderID     string  `path:"order_id" json:"-"`
	OperationID *string `json:"operation_id,omitzero"`
	Stars       *int64  `json:"stars,omitzero"`
	Text        *string `json:"text,omitzero"`
}

// rate is a checked RateInput.
type rate struct {
	orderID, operationID uuid.UUID
	stars                int
	text                 string
	// hash identifies a request.
	hash []byte
}

// check returns invalid_id for a malformed order id, or invalid_input naming every field that is wrong.
func (in RateInput) check() (rate, error) {
	var made rate
	var err error
	if made.orderID, err = text.UUID(in.OrderID); err != nil {
		return made, fault.Field(fault.InvalidID, "order_id", err.Error())
	}
	wrong := fault.Fields{}
	if in.OperationID == nil {
		wrong.Add("operation_id", errRequired)
	} else {
		made.operationID, err = text.UUID(*in.OperationID)
		wrong.Add("operation_id", err)
	}
	switch {
	case in.Stars == nil:
		wrong.Add("stars", errRequired)
	case *in.Stars < minStars || *in.Stars > maxStars:
		wrong.Add("stars", errStars)
	default:
		made.stars = int(*in.Stars)
	}
	if in.Text != nil {
		made.text, err = text.Multi(*in.Text, 0, maxText)
		wrong.Add("text", err)
	}
	if err := wrong.Fault(fault.InvalidInput); err != nil {
		return made, err
	}
	in.OperationID = text.CanonicalUUID(in.OperationID)
	made.hash, err = orders.HashRequest("rating", made.orderID, in)
	return made, err
}

// ListInput names an agent and a page of its ratings (§4.2).
type ListInput struct {
	BotID string `json:"-" path:"bot_id"`
	// Before is the last rating of the previous page.
	Before page.Param `json:"-" query:"before"`
	// OrderID asks only for the caller's own rating of that order.
	OrderID page.Param `json:"-" query:"order_id"`
}

// asked is a checked ListInput.
type asked struct {
	botID           uuid.UUID
	before, orderID *uuid.UUID
}

// check returns invalid_id unless all are UUIDs; before and order_id may be left out.
func (in ListInput) check() (a asked, err error) {
	if a.botID, err = text.UUID(in.BotID); err != nil {
		return a, fault.Field(fault.InvalidID, "bot_id", err.Error())
	}
	if a.before, err = page.ID("before", in.Before); err != nil {
		return a, err
	}
	a.orderID, err = page.ID("order_id", in.OrderID)
	return a, err
}
