package orders

import (
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// extra is what an action's body holds beside operation_id and expected_version.
type extra int

// The extras of the table.
const (
	aNothing extra = iota
	// aConfirmation is confirmed_total_minor, which the customer must send.
	aConfirmation
	// aResult is result_text, result_attachment_ids or both.
	aResult
	// aReason is reason.
	aReason
)

// Lengths in characters and sizes of sets (§8).
const (
	maxTitle       = 160
	maxDescription = 8000
	maxResultText  = 8000
	maxReason      = 2000
	maxFiles       = 10
)

// check judges the fields of an action's body that are there for one kind of action only.
func (e extra) check(wrong fault.Fields, in ActInput) {
	sent := []struct {
		field string
		sent  bool
		with  extra
	}{
		{"confirmed_total_minor", in.ConfirmedTotalMinor != nil, aConfirmation},
		{"result_text", in.ResultText != nil, aResult},
		{"reason", in.Reason != nil, aReason},
	}
	for _, s := range sent {
		if s.sent && s.with != e {
			wrong.Add(s.field, errUnknown)
		}
	}
	switch e {
	case aResult:
		if in.ResultText == nil && in.ResultAttachmentIDs == nil {
			wrong.Add("result_text", errNoResult)
		}
		checkMulti(wrong, "result_text", in.ResultText, 0, maxResultText)
	case aReason:
		if in.Reason == nil {
			wrong.Add("reason", errRequired)
		}
		checkMulti(wrong, "reason", in.Reason, 1, maxReason)
	case aNothing, aConfirmation:
	}
}

// template adds to an action's body what the caller has to send besides: a value where the server knows it, else null.
func (e extra) template(body map[string]any, s *situation, caller uuid.UUID) {
	switch e {
	case aConfirmation:
		if caller == s.order.CustomerID {
			body["confirmed_total_minor"] = s.order.TotalMinor
		}
	case aResult:
		body["result_text"] = nil
	case aReason:
		body["reason"] = nil
	case aNothing:
	}
}

func checkMulti(wrong fault.Fields, field string, sent *string, shortest, longest int) {
	if sent == nil {
		return
	}
	_, err := text.Multi(*sent, shortest, longest)
	wrong.Add(field, err)
}
