package rest_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// The message of a refusal fits the mistake, and its fields name the wrong member.
func TestRefusalsFitTheMistake(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedSite(t))
	me, other, stranger := s.customer, s.contractor, s.Agent()
	pending := s.Asked(stranger, me)
	open := s.offer(me, s.terms(nil))
	cancelled := s.step(me, s.offer(me, s.terms(nil)), "cancel", nil)
	task, another := s.task(me, nil), s.task(me, nil)
	elsewhere := s.respond(other, another, object{"text": "I will."})
	receiptOf := func(card object) string { return "/orders/" + of(card) + "/receipt" }
	rating := object{"operation_id": uuid.NewString(), "stars": 5, "text": "Good."}
	for name, c := range map[string]struct {
		by             *graphtest.Agent
		method, path   string
		body           any
		code           fault.Code
		message        string
		field, because string
	}{
		"a request with a message": {
			me, "POST", "/contacts/requests", object{"recipient_id": stranger.ID, "message": "hi"}, fault.InvalidID,
			"The request has fields that do not exist here.", "message", "the fields here are recipient_id",
		},
		"a request of another name": {
			me, "POST", "/contacts/requests", object{"bot_id": stranger.ID}, fault.InvalidID, "fields that do not exist", "bot_id", "recipient_id",
		},
		"an acceptance with a note": {
			me, "POST", "/contacts/" + pending.String() + "/accept", object{"note": "x"}, fault.InvalidID, "fields that do not exist", "note", "is not a field",
		},
		"an id twice": {
			me, "POST", "/contacts/requests", `{"recipient_id": "a", "recipient_id": "b"}`, fault.InvalidID,
			"The body cannot be read: recipient_id appears twice", "recipient_id", "appears twice",
		},
		"an unknown member of cancel": {
			me, "POST", "/orders/" + of(open) + "/cancel", object{"why": "x"}, fault.InvalidInput, "fields that do not exist",
			"why", "the fields here are operation_id, expected_version$",
		},
		"an unknown member of deliver": {
			other, "POST", "/orders/" + of(open) + "/deliver", object{"text": "x"}, fault.InvalidInput, "fields that do not exist",
			"text", "the fields here are operation_id, expected_version, result_text, result_attachment_ids$",
		},
		"a member of another action": {
			me, "POST", "/orders/" + of(open) + "/cancel", object{"operation_id": uuid.NewString(), "expected_version": 1, "reason": "x"},
			fault.InvalidInput, "not valid", "reason", "the fields here are operation_id, expected_version$",
		},
		"a response to the own task": {
			me, "POST", "/tasks/" + of(task) + "/responses", object{"text": "I will."}, fault.Forbidden, "This is your own task.", "", "",
		},
		"a change of another's response": {
			me, "DELETE", "/tasks/" + of(another) + "/responses/" + of(elsewhere), nil, fault.Forbidden, "Only its author", "", "",
		},
		"an offer to oneself": {
			me, "POST", "/orders", s.terms(object{"contractor_id": me.ID}), fault.FriendshipRequired, "to yourself", "", "",
		},
		"an offer to nobody": {
			me, "POST", "/orders", s.terms(object{"contractor_id": nil}), fault.InvalidInput, "not valid",
			"contractor_id", "send one of contractor_id and customer_id",
		},
		"an offer with an unknown service": {
			me, "POST", "/orders", s.terms(object{"service_id": uuid.NewString()}), fault.NotFound, "no such service", "service_id", "no service",
		},
		"a receipt of an open order":     {me, "GET", receiptOf(open), nil, fault.NotFound, "is offered; only one that is closed", "", ""},
		"a receipt of a cancelled order": {me, "GET", receiptOf(cancelled), nil, fault.NotFound, "is cancelled; only", "", ""},
		"another's receipt":              {stranger, "GET", receiptOf(open), nil, fault.NotFound, "nothing here that you can see", "", ""},
		"a rating of an open order":      {me, "POST", "/orders/" + of(open) + "/rating", rating, fault.StateConflict, "is offered; only one that is closed", "", ""},
		"a rating of a cancelled order":  {me, "POST", "/orders/" + of(cancelled) + "/rating", rating, fault.StateConflict, "is cancelled; only", "", ""},
		"a response to another task": {
			me, "POST", "/tasks/" + of(task) + "/select",
			object{"operation_id": uuid.NewString(), "response_id": of(elsewhere), "confirmed_total_minor": 1100},
			fault.NotFound, "", "response_id", "is no response to this task",
		},
		"an unknown state": {
			me, "GET", "/orders?state=done", nil, fault.InvalidInput, "not valid", "state",
			"must be sent once, and be one of offered, funded, in_progress, delivered, disputed, closed, cancelled, rejected",
		},
		"a handle as an id":    {me, "GET", "/bots/tessa_ts", nil, fault.InvalidID, `\?handle=`, "bot_id", "UUID"},
		"not even a handle":    {me, "GET", "/bots/1-2", nil, fault.InvalidID, "must be a UUID such as", "bot_id", "UUID"},
		"another method":       {me, "PATCH", "/wallet", object{}, fault.MethodNotAllowed, "takes only GET, HEAD, OPTIONS", "", ""},
		"a text of a bell":     {me, "POST", "/posts", object{"text": "\a"}, fault.InvalidText, "without control characters", "text", "control characters"},
		"a message in clear":   {me, "POST", "/messages", object{"recipient_id": other.ID, "text": "hi"}, fault.InvalidEnvelope, "", "text", "plaintext"},
		"an export of nothing": {me, "POST", "/exports", nil, fault.UnsupportedMediaType, "Send a JSON object", "", ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			failure := s.call(c.method, c.by, c.path, c.body).fault(c.code)
			require.Regexp(t, c.message, failure["message"])
			if c.field == "" {
				require.NotContains(t, failure, "fields")
			} else {
				require.Regexp(t, c.because, failure["fields"].(object)[c.field])
			}
		})
	}
}
