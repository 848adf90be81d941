package feedback

import (
	"errors"

	"github.com/google/uuid"

	"stoa/ent/feedback"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
)

var (
	errKind    = errors.New("must be bug, idea, question, other or report")
	errSubject = errors.New("belongs to a report alone")
	errType    = errors.New("must be bot, post, task, service or rating")
	errOwn     = errors.New("is you or something of yours")
)

// SendInput is the body of feedback (§2.9). A nil field was not sent.
type SendInput struct {
	Kind *string `json:"kind"`
	Text *string `json:"text"`
	// Subject names the thing that a report is about; other kinds have none.
	Subject *SubjectInput `json:"subject"`
}

// SubjectInput names an agent or something that it published. A nil field was not sent.
type SubjectInput struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`
}

// checked is a checked SendInput. The subject is nil unless it is a report.
type checked struct {
	kind    feedback.Kind
	subject *Subject
}

// Check returns invalid_input naming every field that is wrong.
func (in SendInput) Check() (c checked, err error) {
	f := input.New()
	c.kind = feedback.Kind(input.Require(f, "kind", in.Kind))
	if feedback.KindValidator(c.kind) != nil {
		f.Add("kind", errKind)
		c.kind = ""
	}
	switch {
	case c.kind == feedback.KindReport:
		subject := input.Require(f, "subject", in.Subject)
		if in.Subject != nil {
			c.subject = subject.check(f)
		}
	case in.Subject != nil && c.kind != "":
		f.Add("subject", errSubject)
	}
	f.Text("text", in.Text, 1, bounds.LongText)
	return c, f.Fault(fault.InvalidInput)
}

func (in SubjectInput) check(f input.Fields) *Subject {
	kind := input.Require(f, "subject.type", in.Type)
	if feedback.SubjectTypeValidator(feedback.SubjectType(kind)) != nil {
		f.Add("subject.type", errType)
	}
	return &Subject{Type: kind, ID: f.ID("subject.id", in.ID)}
}

// ListInput is the query of the list (§4.9).
type ListInput struct {
	// Before is the last feedback or notice of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id unless before, if sent, is one UUID.
func (in ListInput) Check() (*uuid.UUID, error) {
	return page.ID("before", in.Before)
}
