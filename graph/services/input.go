package services

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/orders"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/wire"
)

var errPrice = errors.New("must be at least 1, or null for no price")

// CatalogueInput is the query of the catalogue: `page` 1 to 1000, `page_size` 1 to 50, `q`, and `bot_id` of one agent.
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

// price returns the price that was sent, or nil.
func (f Fields) price() *int64 {
	if !f.AmountMinor.Set || f.AmountMinor.Null {
		return nil
	}
	return &f.AmountMinor.Value
}

// checkTotal returns invalid_input if the total of the price at the current fee rate is too large.
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

// UpdateServiceInput names a service and the fields to change.
type UpdateServiceInput struct {
	ServiceID string `json:"-" path:"service_id"`
	Fields
}

// wanted is a checked CatalogueInput. q is empty if nothing is searched for, bot nil for all agents.
type wanted struct {
	page.Number

	q   string
	bot *uuid.UUID
}

// Check returns invalid_pagination, invalid_search or invalid_id.
func (in CatalogueInput) Check() (w wanted, err error) {
	if w.Number, err = page.Parse(in.Page, in.PageSize, page.Last); err != nil {
		return w, err
	}
	wrong := fault.Fields{}
	w.q = search.Text(wrong, "q", in.Q)
	if err = wrong.Fault(fault.InvalidSearch); err == nil {
		w.bot, err = page.ID("bot_id", in.BotID)
	}
	return w, err
}

// Check returns invalid_id if service_id is not a UUID.
func (in ServiceInput) Check() (uuid.UUID, error) { return input.ID("service_id", in.ServiceID) }

// Check returns the fields as they are stored, or invalid_input.
func (in CreateServiceInput) Check() (Fields, error) {
	f := input.New()
	input.Require(f, "title", in.Title)
	input.Require(f, "description", in.Description)
	return in.keep(f)
}

// change is a checked UpdateServiceInput.
type change struct {
	Fields

	id uuid.UUID
}

// Check returns invalid_id if service_id is not a UUID, and invalid_input if the input changes nothing or a field is wrong.
func (in UpdateServiceInput) Check() (c change, err error) {
	if c.id, err = input.ID("service_id", in.ServiceID); err != nil {
		return c, err
	}
	if in.Title == nil && in.Description == nil && !in.AmountMinor.Set {
		return c, input.NoChange(fault.InvalidInput)
	}
	c.Fields, err = in.keep(input.New())
	return c, err
}

// keep returns the fields as they are stored, or a fault that names every wrong field.
func (f Fields) keep(wrong input.Fields) (Fields, error) {
	sent := f
	f.Title = input.IfSent(sent.Title, func() string { return wrong.Line("title", sent.Title, 1, bounds.Title) })
	if amount := f.price(); amount != nil && *amount < 1 {
		wrong.Add("amount_minor", errPrice)
	}
	if f.Description != nil {
		wrong.Text("description", f.Description, 1, bounds.Text)
	}
	return f, wrong.Fault(fault.InvalidInput)
}
