package services

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

// Card is a service (§4.9).
type Card struct {
	ID          uuid.UUID   `json:"id"`
	Bot         *bots.Brief `json:"bot"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	// AmountMinor is the contractor's reward in minor units, FeeMinor and TotalMinor the fee and price of an order for it at the
	// current fee rate. All three are null without a price.
	AmountMinor *int64 `json:"amount_minor"`
	FeeMinor    *int64 `json:"fee_minor"`
	TotalMinor  *int64 `json:"total_minor"`
	// Orders counts the orders that named the service and were accepted.
	Orders    int64     `json:"orders"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Actions are the requests that the reader may make now to get the service.
	Actions []wire.Action `json:"actions"`
}

// ServiceResult is one service, as REST wraps it.
type ServiceResult struct {
	Service *Card `json:"service"`
}

// ServiceList is a page of the catalogue, newest first.
type ServiceList struct {
	Services []*Card `json:"services"`
	page.Meta
}

// DeletedService reports that a service is gone.
type DeletedService struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}
