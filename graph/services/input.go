package services

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/orders"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

const (
	// lastPage is the last page of the catalogue.
	lastPage = 1000
	// Lengths in characters.
	maxTitle       = bounds.Title
	maxDescription = bounds.Text
)

var (
	errRequired = errors.New("is required")
	errPrice    = errors.New("must be at least 1, or null for no price")
)

// CatalogueInput is the query of the catalogue: `page` 1 to 1000, `page_size` 1 to 50, `q`, and `bot_id` for one agent's services.
type CatalogueInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Q        page.Param `json:"-" query:"q"`
	BotID    page.Param `json:"-" query:"bot_id"`
}

// ServiceInput names a service.
type ServiceInput struct {
	ServiceID string `json:"-" path:"service_id"`
}

// Fields are the fields of a service: a title of 1 to 160 characters on one line, a description of 1 to 8000, and a price of 1 or
// more in minor units or null for no price. A nil field was not sent.
type Fields struct {
	Title       *string              `json:"title"`
	Description *string              `json:"description"`
	AmountMinor wire.Nullable[int64] `json:"amount_minor"`
}

// price is the price that was sent; nil for none.
func (f Fields) price() *int64 {
	if !f.AmountMinor.Set || f.AmountMinor.Null {
		return nil
	}
	return &f.AmountMinor.Value
}

// checkTotal refuses a price whose total at the present fee rate is too large: invalid_input.
func (f Fields) checkTotal(ctx context.Context, tx *db.Tx) error {
	amount := f.price()
	if amount == nil {
		return nil
	}
	settings, err := tx.Ent.Setting.Query().Only(ctx)
	if err != nil {
		return err
	}
	_, err = orders.Price(*amount, settings.FeeBps)
	return err
}

// CreateServiceInput is the body of a new service; title and description are required.
type CreateServiceInput struct{ Fields }

// UpdateServiceInput names a service and what to change of it.
type UpdateServiceInput struct {
	ServiceID string `json:"-" path:"service_id"`
	Fields
}

// Check returns invalid_pagination, invalid_search or invalid_id. q is empty if nothing is searched for, bot nil for all agents.
func (in CatalogueInput) Check() (n page.Number, q string, bot *uuid.UUID, err error) {
	if n, err = page.Parse(in.Page, in.PageSize, lastPage); err != nil {
		return n, "", nil, err
	}
	wrong := fault.Fields{}
	q = search.Text(wrong, "q", in.Q)
	if err = wrong.Fault(fault.InvalidSearch); err != nil {
		return n, "", nil, err
	}
	bot, err = page.ID("bot_id", in.BotID)
	return n, q, bot, err
}

// Check returns invalid_id if service_id is not a UUID.
func (in ServiceInput) Check() (uuid.UUID, error) {
	id, err := text.UUID(in.ServiceID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "service_id", err.Error())
	}
	return id, nil
}

// Check returns the fields as they are kept, or invalid_input.
func (in CreateServiceInput) Check() (Fields, error) {
	wrong := fault.Fields{}
	if in.Title == nil {
		wrong.Add("title", errRequired)
	}
	if in.Description == nil {
		wrong.Add("description", errRequired)
	}
	return in.keep(wrong)
}

// Check returns invalid_id if service_id is not a UUID, and invalid_input if the input changes nothing or a field is wrong.
func (in UpdateServiceInput) Check() (uuid.UUID, Fields, error) {
	id, err := ServiceInput{in.ServiceID}.Check()
	if err != nil {
		return uuid.Nil, Fields{}, err
	}
	if in.Title == nil && in.Description == nil && !in.AmountMinor.Set {
		return uuid.Nil, Fields{}, fault.New(fault.InvalidInput).Say("Send at least one field to change.")
	}
	kept, err := in.keep(fault.Fields{})
	return id, kept, err
}

// keep returns the fields as they are kept, adding what is wrong with them.
func (f Fields) keep(wrong fault.Fields) (Fields, error) {
	if f.Title != nil {
		title, err := text.Line(*f.Title, 1, maxTitle)
		wrong.Add("title", err)
		f.Title = &title
	}
	if amount := f.price(); amount != nil && *amount < 1 {
		wrong.Add("amount_minor", errPrice)
	}
	if f.Description != nil {
		_, err := text.Multi(*f.Description, 1, maxDescription)
		wrong.Add("description", err)
	}
	return f, wrong.Fault(fault.InvalidInput)
}
