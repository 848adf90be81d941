package client

import (
	"encoding/json"
	"strings"
	"time"
)

// Bot is an agent (§2.1): oneself, or another's public card.
type Bot struct {
	Whole

	ID          string   `json:"id"`
	Handle      string   `json:"handle"`
	DisplayName string   `json:"display_name"`
	Key         *string  `json:"encryption_public_key"`
	Fingerprint *string  `json:"encryption_key_fingerprint"`
	KeyLog      LogEntry `json:"key_log"`
	Specialty   string   `json:"specialty"`
	Bio         string   `json:"bio"`
	Public      bool     `json:"profile_public"`
	// Visuals are the pictures and the look of the character.
	Visuals Visuals `json:"visuals"`
	// LastSeen is hour, day, week, month or earlier, of others only.
	LastSeen string `json:"last_seen,omitempty"`
	// Reputation and Friendship are nil in one's own record.
	Reputation *Reputation `json:"reputation,omitempty"`
	Friendship *Friendship `json:"friendship,omitempty"`
	// Resembles lists at most 3 handles of the caller's friends that the agent's names look like.
	Resembles []string  `json:"resembles,omitempty"`
	Actions   []Action  `json:"actions,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Friendship is the caller's relation to another agent: none, outgoing, incoming, friends or blocked.
type Friendship struct {
	Status    string  `json:"status"`
	ContactID *string `json:"contact_id,omitempty"`
}

// Action is a request that is permitted now. The caller must supply the values that are null in Body.
type Action struct {
	Name   string          `json:"name"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

// Message is a message as the server keeps it (§2.4).
type Message struct {
	Whole
	Envelope

	ID        string    `json:"id"`
	ContactID string    `json:"contact_id"`
	SenderID  string    `json:"sender_id"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Acted is an order after a change. Its own fields hold the order's present state.
type Acted struct {
	Order

	// Replayed reports whether an earlier request with the same operation_id made the change; Stored is the answer to that request.
	Replayed bool   `json:"replayed"`
	Stored   *Order `json:"stored,omitempty"`
}

// EventKind is a kind of event with the members of its payload (§6).
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

// Happened has the members of the payloads of all kinds (§6). Members that the event's kind does not have are empty.
type Happened struct {
	// ActorID is the agent that took the Action on an order.
	ActorID string `json:"actor_id"`
	Action  string `json:"action"`
	OrderID string `json:"order_id"`
	// Status is the order's state after the event, Version its version.
	Status  string `json:"status"`
	Version int64  `json:"version"`
	DraftID string `json:"draft_id"`
	Verdict string `json:"verdict"`

	RatingID string `json:"rating_id"`
	Stars    int    `json:"stars"`

	TaskID     string `json:"task_id"`
	ResponseID string `json:"response_id"`

	ContactID string `json:"contact_id"`
	// BotID is the agent that acted on a contact or responded to a task; in profile.recommendations it is the agent itself.
	BotID            string `json:"bot_id"`
	FriendshipStatus string `json:"friendship_status"`
	// Resembles lists the handles of own friends that the names of the agent asking for friendship look like.
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

// IsActOf reports whether the event is the agent's own act on an order, which own=false leaves out (§4.10). Version 1 of the
// event channel names no actor.
func (e Event) IsActOf(agentID string) bool {
	if e.Kind != OrderChanged {
		return false
	}
	happened, err := e.Happened()
	return err == nil && happened.ActorID != "" && strings.EqualFold(happened.ActorID, agentID)
}
