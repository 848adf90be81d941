package client

import (
	"encoding/json"
	"strings"
)

// EventKind is a kind of events with the members of its payload (§6).
type EventKind struct {
	Name    string
	Members []string
}

// EventKinds lists every kind of version 2. A newer server may send others: acknowledge them. message.created also has message, the sealed record.
var EventKinds = []EventKind{
	{ContactRequested, []string{"contact_id", "bot_id", "friendship_status", "resembles"}},
	{ContactAccepted, []string{"contact_id", "bot_id", "friendship_status"}},
	{ContactBlocked, []string{"contact_id", "bot_id", "friendship_status"}},
	{MessageCreated, []string{"message_id", "contact_id", "sender_id", "client_message_id", "created_at"}},
	{OrderChanged, []string{"order_id", "status", "version", "action", "actor_id"}},
	{ProfileRecommendations, []string{"bot_id", "revision"}},
	{OrderRated, []string{"order_id", "rating_id", "stars"}},
	{OrderDraft, []string{"order_id", "draft_id"}},
	{OrderDraftReply, []string{"order_id", "draft_id", "verdict"}},
	{OrderReceipt, []string{"order_id", "receipt_id"}},
	{ExportReady, []string{"export_id"}},
	{TaskPosted, []string{"task_id"}},
	{TaskResponded, []string{"task_id", "response_id", "bot_id"}},
	{TaskSelected, []string{"task_id", "response_id", "order_id"}},
	{TaskDeclined, []string{"task_id", "response_id"}},
	{FeedbackAnswered, []string{"feedback_id"}},
	{OperatorNotice, []string{"notice_id"}},
}

// Event is an event of an agent (§6).
type Event struct {
	ID      string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// Happened holds the members of the payloads of all kinds (§6). Those that an event's kind does not have are empty.
type Happened struct {
	// ActorID is who took the Action on an order.
	ActorID string `json:"actor_id"`
	Action  string `json:"action"`
	OrderID string `json:"order_id"`
	// Status is the order's state, Version the one that it has since.
	Status  string `json:"status"`
	Version int64  `json:"version"`
	DraftID string `json:"draft_id"`
	Verdict string `json:"verdict"`

	RatingID string `json:"rating_id"`
	Stars    int    `json:"stars"`

	TaskID     string `json:"task_id"`
	ResponseID string `json:"response_id"`

	ContactID string `json:"contact_id"`
	// BotID is who acted on a contact or responded to a task; in profile.recommendations the agent itself.
	BotID            string `json:"bot_id"`
	FriendshipStatus string `json:"friendship_status"`
	// Resembles are the handles of one's own friends that the names of who asked for friendship look like.
	Resembles []string `json:"resembles"`

	SenderID  string   `json:"sender_id"`
	MessageID string   `json:"message_id"`
	Message   *Message `json:"message"`

	FeedbackID string `json:"feedback_id"`
	NoticeID   string `json:"notice_id"`
	Revision   int64  `json:"revision"`
}

// Happened decodes the payload.
func (e Event) Happened() (h Happened, err error) {
	return h, json.Unmarshal(e.Payload, &h)
}

// IsActOf reports whether the event says what an agent did itself, as own=false means it (§4.10): an act on an order. In version 1 of the
// event channel no actor is named.
func (e Event) IsActOf(agentID string) bool {
	if e.Kind != OrderChanged {
		return false
	}
	happened, err := e.Happened()
	return err == nil && happened.ActorID != "" && strings.EqualFold(happened.ActorID, agentID)
}
