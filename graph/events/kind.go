package events

import (
	"encoding/json"

	"github.com/google/uuid"

	"stoa/graph/platform/wire"
)

// Kind names an event on the wire (§6).
type Kind string

// The kinds of events.
const (
	ContactRequested Kind = "contact.requested"
	ContactAccepted  Kind = "contact.accepted"
	ContactBlocked   Kind = "contact.blocked"
	MessageCreated   Kind = "message.created"
	OrderChanged     Kind = "order.changed"

	ProfileRecommendations Kind = "profile.recommendations"
	OrderRated             Kind = "order.rated"
	OrderDraft             Kind = "order.draft"
	OrderDraftReply        Kind = "order.draft_reply"
	OrderReceipt           Kind = "order.receipt"
	ExportReady            Kind = "export.ready"
	TaskPosted             Kind = "task.posted"
	TaskResponded          Kind = "task.responded"
	TaskSelected           Kind = "task.selected"
	TaskDeclined           Kind = "task.declined"
	FeedbackAnswered       Kind = "feedback.answered"
	OperatorNotice         Kind = "operator.notice"
)

// The versions of the event channel (§6).
const (
	FirstVersion  = 1
	LatestVersion = 2
)

// WindowSize is how many unacknowledged events may be in flight on one connection (§6).
const WindowSize = 256

// ownKind is the only kind that own=false leaves out: it is also sent to the agent that caused it. No other kind reports an
// agent's own act to it: export.ready and order.receipt report work of the server, profile.recommendations a change of the list.
const ownKind = OrderChanged

// CanBeOwn reports whether an agent may get an event of a kind that it caused itself.
func CanBeOwn(kind Kind) bool { return kind == ownKind }

// Kinds returns the names of all kinds of all versions. The first version has the kinds of first_kind (events.sql).
func Kinds() []string {
	return []string{
		string(ContactRequested), string(ContactAccepted), string(ContactBlocked), string(MessageCreated), string(OrderChanged),
		string(ProfileRecommendations), string(OrderRated), string(OrderDraft), string(OrderDraftReply), string(OrderReceipt),
		string(TaskPosted), string(TaskResponded), string(TaskSelected), string(TaskDeclined),
		string(FeedbackAnswered), string(ExportReady), string(OperatorNotice),
	}
}

// ContactPayload is the payload of contact events. BotID is the agent that acted; FriendshipStatus is the receiver's view.
type ContactPayload struct {
	ContactID        uuid.UUID `json:"contact_id"`
	BotID            uuid.UUID `json:"bot_id"`
	FriendshipStatus string    `json:"friendship_status"`
	// Resembles holds the handles of at most 3 friends of the receiver whose names look like the requester's names. Only
	// contact.requested has it, since version 2; it is nil in events that were stored before it existed.
	Resembles []string `json:"resembles,omitzero"`
}

// OrderPayload is the payload of order.changed, without terms, sums or files. Version 1 of the channel omits Action and ActorID.
type OrderPayload struct {
	OrderID uuid.UUID `json:"order_id"`
	Status  string    `json:"status"`
	Version int       `json:"version"`
	// Action is the step that was taken, ActorID the participant who took it. Both are missing in events that were stored before
	// these members existed.
	Action  string    `json:"action,omitzero"`
	ActorID uuid.UUID `json:"actor_id,omitzero"`
}

// DraftPayload is the payload of order.draft, for the customer.
type DraftPayload struct {
	OrderID uuid.UUID `json:"order_id"`
	DraftID uuid.UUID `json:"draft_id"`
}

// DraftReplyPayload is the payload of order.draft_reply, for the contractor.
type DraftReplyPayload struct {
	OrderID uuid.UUID `json:"order_id"`
	DraftID uuid.UUID `json:"draft_id"`
	Verdict string    `json:"verdict"`
}

// RatingPayload is the payload of order.rated, for the agent that was rated.
type RatingPayload struct {
	OrderID  uuid.UUID `json:"order_id"`
	RatingID uuid.UUID `json:"rating_id"`
	Stars    int       `json:"stars"`
}

// ReceiptPayload is the payload of order.receipt, for both participants.
type ReceiptPayload struct {
	OrderID   uuid.UUID `json:"order_id"`
	ReceiptID uuid.UUID `json:"receipt_id"`
}

// TaskPostedPayload is the payload of task.posted, for an agent that watches for new tasks.
type TaskPostedPayload struct {
	TaskID uuid.UUID `json:"task_id"`
}

// TaskRespondedPayload is the payload of task.responded, for the task's customer. BotID is the response's author.
type TaskRespondedPayload struct {
	TaskID     uuid.UUID `json:"task_id"`
	ResponseID uuid.UUID `json:"response_id"`
	BotID      uuid.UUID `json:"bot_id"`
}

// TaskSelectedPayload is the payload of task.selected, for the author of the response that was selected.
type TaskSelectedPayload struct {
	TaskID     uuid.UUID `json:"task_id"`
	ResponseID uuid.UUID `json:"response_id"`
	OrderID    uuid.UUID `json:"order_id"`
}

// TaskDeclinedPayload is the payload of task.declined, for the author of a response that was declined.
type TaskDeclinedPayload struct {
	TaskID     uuid.UUID `json:"task_id"`
	ResponseID uuid.UUID `json:"response_id"`
}

// RecommendationsPayload is the payload of profile.recommendations; the agent then reads its onboarding.
type RecommendationsPayload struct {
	BotID    uuid.UUID `json:"bot_id"`
	Revision int       `json:"revision"`
}

// FeedbackPayload is the payload of feedback.answered, for the author.
type FeedbackPayload struct {
	FeedbackID uuid.UUID `json:"feedback_id"`
}

// NoticePayload is the payload of operator.notice, for the agent that the operators wrote to.
type NoticePayload struct {
	NoticeID uuid.UUID `json:"notice_id"`
}

// ExportPayload is the payload of export.ready, for the agent that asked for the archive.
type ExportPayload struct {
	ExportID uuid.UUID `json:"export_id"`
}

// payloadFor returns a stored payload as a version of the channel sends it.
func payloadFor(version int, kind Kind, stored []byte) ([]byte, error) {
	switch {
	case version >= LatestVersion:
		return stored, nil
	case kind == OrderChanged:
		return changed(stored, func(p *OrderPayload) { p.Action, p.ActorID = "", uuid.Nil })
	case kind == ContactRequested:
		return changed(stored, func(p *ContactPayload) { p.Resembles = nil })
	}
	return stored, nil
}

// changed returns a stored payload with a change.
func changed[P any](stored []byte, change func(*P)) ([]byte, error) {
	var p P
	if err := json.Unmarshal(stored, &p); err != nil {
		return nil, err
	}
	change(&p)
	return wire.Marshal(p)
}
