package orders

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/wire"
)

var (
	errTotal    = fmt.Errorf("makes a total of more than %d", maxTotalMinor)
	errParty    = errors.New("send one of contractor_id and customer_id: the other participant")
	errNoResult = errors.New("send result_text, result_attachment_ids or both")
)

// CreateInput is the body of a new order (§4.7). A nil field was not sent.
type CreateInput struct {
	OperationID         *string  `json:"operation_id,omitzero"`
	Title               *string  `json:"title,omitzero"`
	Description         *string  `json:"description,omitzero"`
	Deadline            *string  `json:"deadline,omitzero"`
	AmountMinor         *int64   `json:"amount_minor,omitzero"`
	ContractorID        *string  `json:"contractor_id,omitzero"`
	CustomerID          *string  `json:"customer_id,omitzero"`
	ConfirmedTotalMinor *int64   `json:"confirmed_total_minor,omitzero"`
	InputAttachmentIDs  []string `json:"input_attachment_ids,omitzero"`
	// ServiceID is the contractor's service that is ordered.
	ServiceID *string `json:"service_id,omitzero"`
}

// offer is a checked CreateInput.
type offer struct {
	operationID        uuid.UUID
	title, description string
	deadline           time.Time
	amountMinor        int64
	counterpart        uuid.UUID
	// byCustomer: the creator is the customer, and the counterpart the contractor.
	byCustomer     bool
	confirmedTotal *int64
	files          []uuid.UUID
	serviceID      *uuid.UUID
}

// contractor returns the contractor of an offer that the caller makes.
func (f offer) contractor(caller uuid.UUID) uuid.UUID {
	if f.byCustomer {
		return f.counterpart
	}
	return caller
}

// check returns invalid_input naming every field that is wrong.
func (in CreateInput) check() (offer, error) {
	f := input.New()
	made := offer{
		operationID:    f.ID("operation_id", in.OperationID),
		title:          f.Line("title", in.Title, 1, bounds.Title),
		description:    f.Text("description", in.Description, 1, bounds.Text),
		deadline:       f.Time("deadline", in.Deadline),
		amountMinor:    f.Count("amount_minor", in.AmountMinor),
		byCustomer:     in.ContractorID != nil,
		confirmedTotal: in.ConfirmedTotalMinor,
		files:          f.IDs("input_attachment_ids", in.InputAttachmentIDs, bounds.Files),
		serviceID:      input.IfSent(in.ServiceID, func() uuid.UUID { return f.ID("service_id", in.ServiceID) }),
	}
	if made.amountMinor > maxTotalMinor {
		f.Add("amount_minor", errTotal)
	}
	switch {
	case (in.ContractorID == nil) == (in.CustomerID == nil):
		f.Add("contractor_id", errParty)
	case made.byCustomer:
		made.counterpart = f.ID("contractor_id", in.ContractorID)
		input.Require(f, "confirmed_total_minor", in.ConfirmedTotalMinor)
	default:
		made.counterpart = f.ID("customer_id", in.CustomerID)
	}
	return made, f.Fault(fault.InvalidInput)
}

// ActInput is one action on an order: the path and its body (§4.7). A nil field was not sent.
type ActInput struct {
	OrderID             string   `path:"order_id" json:"-"`
	Action              Action   `json:"-"`
	OperationID         *string  `json:"operation_id,omitzero"`
	ExpectedVersion     *int64   `json:"expected_version,omitzero"`
	ConfirmedTotalMinor *int64   `json:"confirmed_total_minor,omitzero"`
	ResultText          *string  `json:"result_text,omitzero"`
	ResultAttachmentIDs []string `json:"result_attachment_ids,omitzero"`
	InputAttachmentIDs  []string `json:"input_attachment_ids,omitzero"`
	Reason              *string  `json:"reason,omitzero"`
}

// command is a checked ActInput.
type command struct {
	*transition
	orderID, operationID uuid.UUID
	expectedVersion      int64
	confirmedTotal       *int64
	resultText, reason   *string
	// results are the files delivered; fixed reports that files were sent with an action that takes none.
	results []uuid.UUID
	fixed   bool
}

// check returns not_found for an unknown action, invalid_id for a malformed order id, or invalid_input naming every field that
// is wrong. Files are judged by their form only.
func (in ActInput) check() (command, error) {
	t := find(in.Action)
	if t == nil {
		return command{}, fault.New(fault.NotFound)
	}
	orderID, err := input.ID("order_id", in.OrderID)
	if err != nil {
		return command{}, err
	}
	f := input.New()
	t.takes.check(f, in)
	f.IDs("input_attachment_ids", in.InputAttachmentIDs, bounds.Files)
	return command{
		transition:      t,
		orderID:         orderID,
		operationID:     f.ID("operation_id", in.OperationID),
		expectedVersion: f.Count("expected_version", in.ExpectedVersion),
		confirmedTotal:  in.ConfirmedTotalMinor,
		resultText:      in.ResultText,
		reason:          in.Reason,
		results:         f.IDs("result_attachment_ids", in.ResultAttachmentIDs, bounds.Files),
		fixed:           in.InputAttachmentIDs != nil || (in.ResultAttachmentIDs != nil && t.takes != resultPayload),
	}, f.Fault(fault.InvalidInput)
}

// payload is the content of an action's body besides operation_id and expected_version.
type payload int

// The payloads of the table in state.go.
const (
	noPayload payload = iota
	// confirmationPayload is confirmed_total_minor, which the customer must send.
	confirmationPayload
	// resultPayload is result_text, result_attachment_ids or both.
	resultPayload
	// reasonPayload is reason.
	reasonPayload
)

// payloadFields are the fields of an action's body that only one kind of payload holds.
var payloadFields = []struct {
	name string
	of   payload
	sent func(ActInput) bool
}{
	{"confirmed_total_minor", confirmationPayload, func(in ActInput) bool { return in.ConfirmedTotalMinor != nil }},
	{"result_text", resultPayload, func(in ActInput) bool { return in.ResultText != nil }},
	// With another action, files are immutable_attachments.
	{"result_attachment_ids", resultPayload, func(ActInput) bool { return false }},
	{"reason", reasonPayload, func(in ActInput) bool { return in.Reason != nil }},
}

// unknown returns the reason against a field that the body of an action with this payload does not have.
func (p payload) unknown() string {
	names := []string{"operation_id", "expected_version"}
	for _, field := range payloadFields {
		if field.of == p {
			names = append(names, field.name)
		}
	}
	return wire.NoField(names)
}

// BlameBody returns invalid_input for a body that cannot be read. If a field is unknown, it lists the fields of the action.
func (in ActInput) BlameBody(refused *wire.Error) *fault.Error {
	if t := find(in.Action); t != nil && refused.Kind == wire.Unknown {
		refused.Reason = t.takes.unknown()
	}
	return fault.Body(fault.InvalidInput, refused)
}

// check judges the fields that only one kind of payload holds.
func (p payload) check(f input.Fields, in ActInput) {
	for _, field := range payloadFields {
		if field.of != p && field.sent(in) {
			f.Add(field.name, errors.New(p.unknown()))
		}
	}
	switch {
	case p == reasonPayload:
		f.Text("reason", in.Reason, 1, bounds.Reason)
	case p == resultPayload && in.ResultText != nil:
		f.Text("result_text", in.ResultText, 0, bounds.Text)
	case p == resultPayload && in.ResultAttachmentIDs == nil:
		f.Add("result_text", errNoResult)
	}
}

// template adds the other required members to an action's body: the value if the server knows it, else null.
func (p payload) template(body map[string]any, o *row, caller uuid.UUID) {
	switch p {
	case confirmationPayload:
		if caller == o.CustomerID {
			body["confirmed_total_minor"] = o.TotalMinor
		}
	case resultPayload:
		body["result_text"] = nil
	case reasonPayload:
		body["reason"] = nil
	case noPayload:
	}
}
