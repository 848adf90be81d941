package ratings

import (
	"errors"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
)

var errStars = errors.New("must be an integer from 1 to 5")

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
}

// check returns invalid_id for a malformed order id, or invalid_input naming every field that is wrong.
func (in RateInput) check() (made rate, err error) {
	if made.orderID, err = input.ID("order_id", in.OrderID); err != nil {
		return made, err
	}
	f := input.New()
	made.operationID = f.ID("operation_id", in.OperationID)
	stars := input.Require(f, "stars", in.Stars)
	if stars < 1 || stars > 5 {
		f.Add("stars", errStars)
	}
	made.stars = int(stars)
	if in.Text != nil {
		made.text = f.Text("text", in.Text, 0, bounds.RatingText)
	}
	return made, f.Fault(fault.InvalidInput)
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
	input.List
	orderID *uuid.UUID
}

// check returns invalid_id unless all are UUIDs; before and order_id may be left out.
func (in ListInput) check() (a asked, err error) {
	if a.List, err = input.ListOf("bot_id", in.BotID, in.Before); err == nil {
		a.orderID, err = page.ID("order_id", in.OrderID)
	}
	return a, err
}
