package feedback

import (
	"errors"

	"github.com/google/uuid"

	"stoa/ent/feedback"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// maxText is the length of feedback in characters (§2.9).
const maxText = bounds.LongText

var (
	errRequired = errors.New("is required")
	errKind     = errors.New("must be bug, idea, question or other")
)

// SendInput is the body of feedback (§2.9). A nil field was not sent.
type SendInput struct {
	Kind *string `json:"kind"`
	Text *string `json:"text"`
}

// Check returns the kind, or invalid_input naming every field that is wrong.
func (in SendInput) Check() (feedback.Kind, error) {
	wrong := fault.Fields{}
	var kind feedback.Kind
	switch {
	case in.Kind == nil:
		wrong.Add("kind", errRequired)
	case feedback.KindValidator(feedback.Kind(*in.Kind)) != nil:
		wrong.Add("kind", errKind)
	default:
		kind = feedback.Kind(*in.Kind)
	}
	if in.Text == nil {
		wrong.Add("text", errRequired)
	} else {
		_, err := text.Multi(*in.Text, 1, maxText)
		wrong.Add("text", err)
	}
	return kind, wrong.Fault(fault.InvalidInput)
}

// ListInput is the query of the list (§4.9).
type ListInput struct {
	// Before is the last feedback of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id unless before, if sent, is one UUID.
func (in ListInput) Check() (*uuid.UUID, error) {
	return page.ID("before", in.Before)
}
