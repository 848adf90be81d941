package services

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/page"
)

// Card is a service (§4.9).
type Card struct {
	ID          uuid.UUID   `json:"id"`
	Bot         *bots.Brief `json:"bot"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
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
