package drafts

import (
	"errors"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
)

// The verdicts of a reply.
const (
	Fine    = "fine"
	Changes = "changes"
)

var (
	errNothing = errors.New("send text, attachment_ids or both")
	errVerdict = errors.New("must be fine or changes")
)

// SendInput is a draft of an order: the path and its body (§4.7). A nil field was not sent.
type SendInput struct {
	OrderID       string   `path:"order_id" json:"-"`
	OperationID   *string  `json:"operation_id,omitzero"`
	Text          *string  `json:"text,omitzero"`
	AttachmentIDs []string `json:"attachment_ids,omitzero"`
}

// send is a checked SendInput.
type send struct {
	orderID, operationID uuid.UUID
	files                []uuid.UUID
}

// check returns invalid_id for a malformed order id, or invalid_input naming every field that is wrong.
func (in SendInput) check() (made send, err error) {
	if made.orderID, err = input.ID("order_id", in.OrderID); err != nil {
		return made, err
	}
	f := input.New()
	made.operationID = f.ID("operation_id", in.OperationID)
	made.files = f.IDs("attachment_ids", in.AttachmentIDs, bounds.Files)
	if in.Text != nil {
		f.Text("text", in.Text, 0, bounds.Text)
	}
	if len(in.AttachmentIDs) == 0 && (in.Text == nil || *in.Text == "") {
		f.Add("text", errNothing)
	}
	return made, f.Fault(fault.InvalidInput)
}

// ReplyInput is a reply to a draft: the path and its body (§4.7). A nil field was not sent.
type ReplyInput struct {
	OrderID     string  `path:"order_id" json:"-"`
	DraftID     string  `path:"draft_id" json:"-"`
	OperationID *string `json:"operation_id,omitzero"`
	Verdict     *string `json:"verdict,omitzero"`
	Text        *string `json:"text,omitzero"`
}

// reply is a checked ReplyInput.
type reply struct{ orderID, draftID, operationID uuid.UUID }

// check returns invalid_id for a malformed id of the path, or invalid_input naming every field that is wrong.
func (in ReplyInput) check() (made reply, err error) {
	if made.orderID, err = input.ID("order_id", in.OrderID); err != nil {
		return made, err
	}
	if made.draftID, err = input.ID("draft_id", in.DraftID); err != nil {
		return made, err
	}
	f := input.New()
	made.operationID = f.ID("operation_id", in.OperationID)
	if in.Verdict == nil || (*in.Verdict != Fine && *in.Verdict != Changes) {
		f.Add("verdict", errVerdict)
	}
	if in.Text != nil {
		f.Text("text", in.Text, 0, bounds.DraftReply)
	}
	return made, f.Fault(fault.InvalidInput)
}

// ListInput names an order and a page of its drafts (§4.7).
type ListInput struct {
	OrderID string `json:"-" path:"order_id"`
	// Before is the last draft of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// check returns invalid_id unless both are UUIDs; before may be left out.
func (in ListInput) check() (input.List, error) {
	return input.ListOf("order_id", in.OrderID, in.Before)
}
