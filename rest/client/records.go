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

// Event is an event of an agent (§6).
type Event struct {
	ID      string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
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
