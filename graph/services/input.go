package services

import (
	"errors"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/text"
)

const (
	// lastPage is the last page of the catalogue.
	lastPage = 1000
	// Lengths in characters.
	maxTitle       = bounds.Title
	maxDescription = bounds.Text
)

var errRequired = errors.New("is required")

// CatalogueInput is the query of the catalogue: `page` 1 to 1000, `page_size` 1 to 50, and `q`.
type CatalogueInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	Q        page.Param `json:"-" query:"q"`
}

// ServiceInput names a service.
type ServiceInput struct {
	ServiceID string `json:"-" path:"service_id"`
}

// Fields are the fields of a service: a title of 1 to 160 characters on one line, a description of 1 to 8000. A nil field was not
// sent.
type Fields struct {
	Title       *string `json:"title"`
	Description *string `json:"description"`
}

// CreateServiceInput is the body of a new service; both fields are required.
type CreateServiceInput struct{ Fields }

// UpdateServiceInput names a service and what to change of it.
type UpdateServiceInput struct {
	ServiceID string `json:"-" path:"service_id"`
	Fields
}

// Check returns invalid_pagination or invalid_search. q is empty if nothing is searched for.
func (in CatalogueInput) Check() (n page.Number, q string, err error) {
	n, err = page.Parse(in.Page, in.PageSize, lastPage)
	if err != nil {
		return n, "", err
	}
	wrong := fault.Fields{}
	q = search.Text(wrong, "q", in.Q)
	return n, q, wrong.Fault(fault.InvalidSearch)
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
	if in.Title == nil && in.Description == nil {
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
	if f.Description != nil {
		_, err := text.Multi(*f.Description, 1, maxDescription)
		wrong.Add("description", err)
	}
	return f, wrong.Fault(fault.InvalidInput)
}
