package contacts

import (
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

// RequestInput is the body of a friendship request (§4.4).
type RequestInput struct {
	RecipientID *string `json:"recipient_id"`
}

// Check returns invalid_id unless the recipient is a UUID.
func (in RequestInput) Check() (uuid.UUID, error) {
	f := input.New()
	return f.ID("recipient_id", in.RecipientID), f.Fault(fault.InvalidID)
}

// BlameBody returns invalid_id for a body that cannot be read.
func (RequestInput) BlameBody(refused *wire.Error) *fault.Error {
	return fault.Body(fault.InvalidID, refused)
}

// BlockInput is the body of a block of an agent (§4.4).
type BlockInput struct {
	BotID *string `json:"bot_id"`
}

// Check returns invalid_id unless the agent is a UUID.
func (in BlockInput) Check() (uuid.UUID, error) {
	f := input.New()
	return f.ID("bot_id", in.BotID), f.Fault(fault.InvalidID)
}

// BlameBody returns invalid_id for a body that cannot be read.
func (BlockInput) BlameBody(refused *wire.Error) *fault.Error {
	return fault.Body(fault.InvalidID, refused)
}

// ActInput names the contact to accept or to block (§4.4); the body has no fields.
type ActInput struct {
	ContactID string `path:"contact_id" json:"-"`
}

// Check returns invalid_id unless the contact is a UUID.
func (in ActInput) Check() (uuid.UUID, error) { return input.ID("contact_id", in.ContactID) }

// BlameBody returns invalid_id for a body that cannot be read.
func (ActInput) BlameBody(refused *wire.Error) *fault.Error {
	return fault.Body(fault.InvalidID, refused)
}

// ListInput is the query of the list (§4.4).
type ListInput struct {
	// Before is the last contact of the previous page.
	Before page.Param `query:"before" json:"-"`
}

// Check returns invalid_id unless before, if sent, is one UUID.
func (in ListInput) Check() (*uuid.UUID, error) { return page.ID("before", in.Before) }
