package orders

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// Lengths in characters and sizes of sets (§8).
const (
	maxTitle       = bounds.Title
	maxDescription = bounds.Text
	maxResultText  = bounds.Text
	maxReason      = bounds.Reason
	maxFiles       = bounds.Files
)

var (
	errRequired  = errors.New("is required")
	errUnknown   = errors.New("is not a field of this request")
	errPositive  = errors.New("must be at least 1")
	errTotal     = fmt.Errorf("makes a total of more than %d", maxTotalMinor)
	errParty     = errors.New("send contractor_id or customer_id, not both: the other participant")
	errNoResult  = errors.New("send result_text, result_attachment_ids or both")
	errDuplicate = errors.New("must not hold an id twice")
	errFiles     = fmt.Errorf("must hold at most %d ids", maxFiles)
	errPast      = errors.New("must be in the future")
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
	// ServiceID is a service of the contractor that the order comes from.
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

// contractor is the contractor of an offer that the caller makes.
func (f offer) contractor(caller uuid.UUID) uuid.UUID {
	if f.byCustomer {
		return f.counterpart
	}
	return caller
}

// check returns invalid_input naming every field that is wrong.
func (in CreateInput) check() (offer, error) {
	wrong := fault.Fields{}
	made := offer{
		operationID:    RequireID(wrong, "operation_id", in.OperationID),
		amountMinor:    requireCount(wrong, "amount_minor", in.AmountMinor),
		byCustomer:     in.ContractorID != nil,
		confirmedTotal: in.ConfirmedTotalMinor,
		files:          CheckFiles(wrong, "input_attachment_ids", in.InputAttachmentIDs),
	}
	var err error
	made.title, err = text.Line(required(wrong, "title", in.Title), 1, maxTitle)
	wrong.Add("title", err)
	made.description, err = text.Multi(required(wrong, "description", in.Description), 1, maxDescription)
	wrong.Add("description", err)
	made.deadline, err = text.Time(required(wrong, "deadline", in.Deadline))
	wrong.Add("deadline", err)
	if in.ServiceID != nil {
		id := RequireID(wrong, "service_id", in.ServiceID)
		made.serviceID = &id
	}
	if made.amountMinor > maxTotalMinor {
		wrong.Add("amount_minor", errTotal)
	}
	switch {
	case (in.ContractorID == nil) == (in.CustomerID == nil):
		wrong.Add("contractor_id", errParty)
	case made.byCustomer:
		made.counterpart = RequireID(wrong, "contractor_id", in.ContractorID)
		if in.ConfirmedTotalMinor == nil {
			wrong.Add("confirmed_total_minor", errRequired)
		}
	default:
		made.counterpart = RequireID(wrong, "customer_id", in.CustomerID)
	}
	return made, wrong.Fault(fault.InvalidInput)
}

// canonical is the input as it is compared with a repeat: a UUID in either case is the same UUID (§1.3).
func (in CreateInput) canonical() CreateInput {
	in.OperationID, in.ContractorID = text.CanonicalUUID(in.OperationID), text.CanonicalUUID(in.ContractorID)
	in.CustomerID, in.ServiceID = text.CanonicalUUID(in.CustomerID), text.CanonicalUUID(in.ServiceID)
	in.InputAttachmentIDs = text.CanonicalUUIDs(in.InputAttachmentIDs)
	return in
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
	// results are the files delivered; fixed reports that files were sent with an action that can fix none.
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
	orderID, err := text.UUID(in.OrderID)
	if err != nil {
		return command{}, fault.Field(fault.InvalidID, "order_id", err.Error())
	}
	wrong := fault.Fields{}
	t.takes.check(wrong, in)
	CheckFiles(wrong, "input_attachment_ids", in.InputAttachmentIDs)
	return command{
		transition:      t,
		orderID:         orderID,
		operationID:     RequireID(wrong, "operation_id", in.OperationID),
		expectedVersion: requireCount(wrong, "expected_version", in.ExpectedVersion),
		confirmedTotal:  in.ConfirmedTotalMinor,
		resultText:      in.ResultText,
		reason:          in.Reason,
		results:         CheckFiles(wrong, "result_attachment_ids", in.ResultAttachmentIDs),
		fixed:           in.InputAttachmentIDs != nil || (in.ResultAttachmentIDs != nil && t.takes != resultPayload),
	}, wrong.Fault(fault.InvalidInput)
}

// canonical is the input as it is compared with a repeat: a UUID in either case is the same UUID (§1.3).
func (in ActInput) canonical() ActInput {
	in.OperationID = text.CanonicalUUID(in.OperationID)
	in.ResultAttachmentIDs = text.CanonicalUUIDs(in.ResultAttachmentIDs)
	in.InputAttachmentIDs = text.CanonicalUUIDs(in.InputAttachmentIDs)
	return in
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

// check judges the fields that only one kind of payload holds.
func (p payload) check(wrong fault.Fields, in ActInput) {
	for _, f := range []struct {
		name string
		sent bool
		of   payload
	}{
		{"confirmed_total_minor", in.ConfirmedTotalMinor != nil, confirmationPayload},
		{"result_text", in.ResultText != nil, resultPayload},
		{"reason", in.Reason != nil, reasonPayload},
	} {
		if f.sent && f.of != p {
			wrong.Add(f.name, errUnknown)
		}
	}
	switch p {
	case resultPayload:
		if in.ResultText == nil && in.ResultAttachmentIDs == nil {
			wrong.Add("result_text", errNoResult)
		}
		checkMulti(wrong, "result_text", in.ResultText, 0, maxResultText)
	case reasonPayload:
		if in.Reason == nil {
			wrong.Add("reason", errRequired)
		}
		checkMulti(wrong, "reason", in.Reason, 1, maxReason)
	case noPayload, confirmationPayload:
	}
}

// template adds to an action's body what the caller has to send besides: a value where the server knows it, else null.
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

func checkMulti(wrong fault.Fields, field string, sent *string, shortest, longest int) {
	if sent == nil {
		return
	}
	_, err := text.Multi(*sent, shortest, longest)
	wrong.Add(field, err)
}

func required(wrong fault.Fields, field string, sent *string) string {
	if sent == nil {
		wrong.Add(field, errRequired)
		return ""
	}
	return *sent
}

// RequireID reads an id that the body must hold; it notes what is wrong with it.
func RequireID(wrong fault.Fields, field string, sent *string) uuid.UUID {
	id, err := text.UUID(required(wrong, field, sent))
	wrong.Add(field, err)
	return id
}

func requireCount(wrong fault.Fields, field string, sent *int64) int64 {
	switch {
	case sent == nil:
		wrong.Add(field, errRequired)
		return 0
	case *sent < 1:
		wrong.Add(field, errPositive)
	}
	return *sent
}

// CheckFiles reads a set of files: at most 10 ids, none of them twice. It notes what is wrong with it.
func CheckFiles(wrong fault.Fields, field string, sent []string) []uuid.UUID {
	if len(sent) > maxFiles {
		wrong.Add(field, errFiles)
		return nil
	}
	ids, seen := make([]uuid.UUID, 0, len(sent)), make(map[uuid.UUID]bool, len(sent))
	for i, s := range sent {
		id, err := text.UUID(s)
		if err != nil {
			wrong.Add(fmt.Sprintf("%s[%d]", field, i), err)
			continue
		}
		if seen[id] {
			wrong.Add(field, errDuplicate)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}
