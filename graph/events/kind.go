package events

import (
	"time"

	"github.com/google/uuid"
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
)

// The versions of the event channel (§6).
const (
	FirstVersion  = 1
	LatestVersion = 2
)

// WindowSize is how many unacknowledged events may be in flight on one connection (§6).
const WindowSize = 256

// Kinds are the names of all kinds, those of the latest version too.
func Kinds() []string {
	return []string{
		string(ContactRequested), string(ContactAccepted), string(ContactBlocked), string(MessageCreated), string(OrderChanged),
		string(ProfileRecommendations), string(OrderRated),
	}
}

// latestKinds came with the latest version; earlier ones are not sent them.
var latestKinds = []string{string(ProfileRecommendations), string(OrderRated)}

// ContactPayload is the payload of contact events. BotID is who acted; FriendshipStatus is the receiver's view.
type ContactPayload struct {
	ContactID        uuid.UUID `json:"contact_id"`
	BotID            uuid.UUID `json:"bot_id"`
	FriendshipStatus string    `json:"friendship_status"`
}

// MessagePayload is the payload of message.created. The record of the message is read at delivery and added.
type MessagePayload struct {
	MessageID       uuid.UUID `json:"message_id"`
	ContactID       uuid.UUID `json:"contact_id"`
	SenderID        uuid.UUID `json:"sender_id"`
	ClientMessageID uuid.UUID `json:"client_message_id"`
	CreatedAt       time.Time `json:"created_at"`
}

// OrderPayload is the payload of order.changed: never terms, sums or files.
type OrderPayload struct {
	OrderID uuid.UUID `json:"order_id"`
	Status  string    `json:"status"`
	Version int       `json:"version"`
}

// RatingPayload is the payload of order.rated, for the agent that was rated.
type RatingPayload struct {
	OrderID  uuid.UUID `json:"order_id"`
	RatingID uuid.UUID `json:"rating_id"`
	Stars    int       `json:"stars"`
}

// RecommendationsPayload is the payload of profile.recommendations; the agent then reads its onboarding.
type RecommendationsPayload struct {
	BotID    uuid.UUID `json:"bot_id"`
	Revision int       `json:"revision"`
}
