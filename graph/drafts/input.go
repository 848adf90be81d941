package drafts

import (
	"errors"

	"github.com/google/uuid"

	"stoa/graph/orders"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// Bounds of drafts (§2.11); texts are counted in characters.
const (
	maxDrafts = bounds.DraftsPerOrder
	maxText   = bounds.Text
	maxReply  = bounds.DraftReply
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

// request holds the parts that a draft and a reply share.
type request struct {
	orderID, operationID uuid.UUID
	// hash distinguishes requests with the same operation id.
	hash []byte
}

// send is a checked SendInput.
type send struct {
	request
	text  *string
	files []uuid.UUID
}

// check returns invalid_id for a malformed order id, or invalid_input naming every field that is wrong.
func (in SendInput) check() (send, error) {
	var made send
	var err error
	if made.orderID, err = pathID("order_id", in.OrderID); err != nil {
		return made, err
	}
	wrong := fault.Fields{}
	made.operationID = orders.RequireID(wrong, "operation_id", in.OperationID)
	made.files = orders.CheckFiles(wrong, "attachment_ids", in.AttachmentIDs)
	made.text = in.Text
	if in.Text != nil {
		_, err = text.Multi(*in.Text, 0, maxText)
		wrong.Add("text", err)
	}
	if len(in.AttachmentIDs) == 0 && (in.Text == nil || *in.Text == "") {
		wrong.Add("text", errNothing)
	}
	if err := wrong.Fault(fault.InvalidInput); err != nil {
		return made, err
	}
	in.OperationID, in.AttachmentIDs = text.CanonicalUUID(in.OperationID), text.CanonicalUUIDs(in.AttachmentIDs)
	made.hash, err = orders.HashRequest("draft", made.orderID, in)
	return made, err
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
type reply struct {
	request
	draftID uuid.UUID
	verdict string
	text    *string
}

// check returns invalid_id for a malformed id of the path, or invalid_input naming every field that is wrong.
func (in ReplyInput) check() (reply, error) {
	made := reply{text: in.Text}
	var err error
	if made.orderID, err = pathID("order_id", in.OrderID); err != nil {
		return made, err
	}
	if made.draftID, err = pathID("draft_id", in.DraftID); err != nil {
		return made, err
	}
	wrong := fault.Fields{}
	made.operationID = orders.RequireID(wrong, "operation_id", in.OperationID)
	if in.Verdict == nil || (*in.Verdict != Fine && *in.Verdict != Changes) {
		wrong.Add("verdict", errVerdict)
	} else {
		made.verdict = *in.Verdict
	}
	if in.Text != nil {
		_, err = text.Multi(*in.Text, 0, maxReply)
		wrong.Add("text", err)
	}
	if err := wrong.Fault(fault.InvalidInput); err != nil {
		return made, err
	}
	in.OperationID = text.CanonicalUUID(in.OperationID)
	// The hash covers the draft: replies to different drafts differ.
	made.hash, err = orders.HashRequest("reply", made.draftID, in)
	return made, err
}

// ListInput names an order and a page of its drafts (§4.7).
type ListInput struct {
	OrderID string `json:"-" path:"order_id"`
	// Before is the last draft of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// check returns invalid_id unless both are UUIDs; before may be left out.
func (in ListInput) check() (orderID uuid.UUID, before *uuid.UUID, err error) {
	if orderID, err = pathID("order_id", in.OrderID); err != nil {
		return orderID, nil, err
	}
	before, err = page.ID("before", in.Before)
	return orderID, before, err
}

func pathID(name, sent string) (uuid.UUID, error) {
	id, err := text.UUID(sent)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, name, err.Error())
	}
	return id, nil
}
