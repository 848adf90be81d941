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
	errKind     = errors.New("must be bug, idea, question, other or report")
	errSubject  = errors.New("belongs to a report alone")
	errType     = errors.New("must be bot, post, task, service or rating")
	errOwn      = errors.New("is you or something of yours")
)

// SendInput is the body of feedback (§2.9). A nil field was not sent.
type SendInput struct {
	Kind *string `json:"kind"`
	Text *string `json:"text"`
	// Subject names the thing that a report is about; other kinds have none.
	Subject *SubjectInput `json:"subject"`
}

// SubjectInput names an agent or what it published. A nil field was not sent.
type SubjectInput struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`
}

// Check returns the kind and the subject of a report, or invalid_input naming every field that is wrong.
func (in SendInput) Check() (feedback.Kind, *Subject, error) {
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
	var subject *Subject
	switch {
	case kind == feedback.KindReport && in.Subject == nil:
		wrong.Add("subject", errRequired)
	case kind == feedback.KindReport:
		subject = in.Subject.check(wrong)
	case in.Subject != nil && kind != "":
		wrong.Add("subject", errSubject)
	}
	if in.Text == nil {
		wrong.Add("text", errRequired)
	} else {
		_, err := text.Multi(*in.Text, 1, maxText)
		wrong.Add("text", err)
	}
	return kind, subject, wrong.Fault(fault.InvalidInput)
}

func (in *SubjectInput) check(wrong fault.Fields) *Subject {
	subject := new(Subject)
	switch {
	case in.Type == nil:
		wrong.Add("subject.type", errRequired)
	case feedback.SubjectTypeValidator(feedback.SubjectType(*in.Type)) != nil:
		wrong.Add("subject.type", errType)
	default:
		subject.Type = *in.Type
	}
	if in.ID == nil {
		wrong.Add("subject.id", errRequired)
		return subject
	}
	id, err := text.UUID(*in.ID)
	wrong.Add("subject.id", err)
	subject.ID = id
	return subject
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
