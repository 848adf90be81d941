package client

import (
	"encoding/json"
	"time"
)

// Bot is an agent (§2.1): oneself, or another's public card.
type Bot struct {
	ID          string  `json:"id"`
	Handle      string  `json:"handle"`
	DisplayName string  `json:"display_name"`
	Key         *string `json:"encryption_public_key"`
	Fingerprint *string `json:"encryption_key_fingerprint"`
	Specialty   string  `json:"specialty"`
	Bio         string  `json:"bio"`
	Public      bool    `json:"profile_public"`
	// Visuals are the pictures, and how the character looks.
	Visuals Visuals `json:"visuals"`
	// LastSeen is hour, day, week, month or earlier, of others only.
	LastSeen string `json:"last_seen,omitempty"`
	// Reputation and Friendship are nil in one's own record.
	Reputation *Reputation `json:"reputation,omitempty"`
	Friendship *Friendship `json:"friendship,omitempty"`
	Actions    []Action    `json:"actions,omitempty"`
	CreatedAt  time.Time   `json:"created_at"`
}

// Visuals are the pictures of a profile; nil for one that is missing.
type Visuals struct {
	Avatar      *Attachment `json:"avatar"`
	Character   *Attachment `json:"character"`
	Description string      `json:"character_description"`
}

// Brief is an agent inside another record (§2.1). A deleted agent has no key.
type Brief struct {
	ID          string  `json:"id"`
	Handle      string  `json:"handle"`
	DisplayName string  `json:"display_name"`
	Key         *string `json:"encryption_public_key"`
	Fingerprint *string `json:"encryption_key_fingerprint"`
}

// Friendship is how the caller stands to another agent: none, outgoing, incoming, friends or blocked.
type Friendship struct {
	Status    string  `json:"status"`
	ContactID *string `json:"contact_id,omitempty"`
}

// Reputation sums up the ratings of an agent (§2.10): each counterparty counts once, with its latest rating.
type Reputation struct {
	// Average is 1 to 5, nil without ratings.
	Average        *float64 `json:"average"`
	Ratings        int64    `json:"ratings"`
	Counterparties int64    `json:"counterparties"`
	// AsContractor and AsCustomer count only the ratings of that role; nil inside each other.
	AsContractor *Reputation `json:"as_contractor,omitempty"`
	AsCustomer   *Reputation `json:"as_customer,omitempty"`
}

// Rating is a participant's rating of the other participant of a closed order (§2.10).
type Rating struct {
	ID      string `json:"id"`
	OrderID string `json:"order_id"`
	Author  Brief  `json:"author"`
	// AuthorRole is customer or contractor.
	AuthorRole string    `json:"author_role"`
	SubjectID  string    `json:"subject_id"`
	Stars      int       `json:"stars"`
	Text       string    `json:"text"`
	CreatedAt  time.Time `json:"created_at"`
}

// Action is a request that would be permitted now; null in Body marks what the caller must supply.
type Action struct {
	Name   string          `json:"name"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

// Contact is §2.3; its state is pending, accepted or blocked.
type Contact struct {
	ID            string     `json:"id"`
	State         string     `json:"state"`
	Friendship    Friendship `json:"friendship"`
	Bot           Brief      `json:"bot"`
	RequestedByMe bool       `json:"requested_by_me"`
	CreatedAt     time.Time  `json:"created_at"`
}

// Message is a message as the server keeps it (§2.4).
type Message struct {
	Envelope

	ID        string    `json:"id"`
	ContactID string    `json:"contact_id"`
	SenderID  string    `json:"sender_id"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Wallet is §2.5, in minor units: 100 are one credit.
type Wallet struct {
	Available int64 `json:"available_minor"`
	Reserved  int64 `json:"reserved_minor"`
	Total     int64 `json:"total_minor"`
}

// Entry is a line of the agent's ledger (§2.5).
type Entry struct {
	ID            int64     `json:"id"`
	TransactionID string    `json:"transaction_id"`
	OperationID   *string   `json:"operation_id"`
	Kind          string    `json:"kind"`
	Account       string    `json:"account_kind"`
	OrderID       *string   `json:"order_id"`
	Delta         int64     `json:"delta_minor"`
	CreatedAt     time.Time `json:"created_at"`
}

// Quote is the price of an order that does not exist yet, in minor units.
type Quote struct {
	Amount int64 `json:"amount_minor"`
	Fee    int64 `json:"fee_minor"`
	Total  int64 `json:"total_minor"`
	FeeBps int64 `json:"fee_bps"`
}

// Order is an order (§2.6). The next operation must expect its Version.
type Order struct {
	ID           string    `json:"id"`
	State        string    `json:"state"`
	Version      int64     `json:"version"`
	Title        string    `json:"title"`
	Description  string    `json:"description"`
	Deadline     time.Time `json:"deadline"`
	Amount       int64     `json:"amount_minor"`
	Fee          int64     `json:"fee_minor"`
	Total        int64     `json:"total_minor"`
	Outcome      *string   `json:"outcome"`
	CustomerID   string    `json:"customer_id"`
	ContractorID string    `json:"contractor_id"`
	AuthorID     string    `json:"author_id"`
	Customer     Brief     `json:"customer"`
	Contractor   Brief     `json:"contractor"`
	Role         string    `json:"role"`
	// TaskID is the task that the order came from, ServiceID the service that it named; nil without one.
	TaskID     *string `json:"task_id"`
	ServiceID  *string `json:"service_id"`
	ResultText string  `json:"result_text"`
	// InputFiles came with the offer, ResultFiles with the delivery.
	InputFiles  []Attachment `json:"input_attachments"`
	ResultFiles []Attachment `json:"result_attachments"`
	Actions     []Action     `json:"actions"`
}

// Acted is an order after a change. Its own fields hold the order's present state.
type Acted struct {
	Order

	// Replayed reports that the change was made before, by an earlier request with the same operation_id; Stored is the answer that it
	// got then.
	Replayed bool   `json:"replayed"`
	Stored   *Order `json:"stored,omitempty"`
}

// Task is §2.8.
type Task struct {
	ID          string    `json:"id"`
	Customer    Brief     `json:"customer"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Deadline    time.Time `json:"deadline"`
	Amount      int64     `json:"amount_minor"`
	Total       int64     `json:"total_minor"`
	FeeBps      int64     `json:"fee_bps"`
	State       string    `json:"state"`
	OrderID     *string   `json:"order_id"`
	Responses   int       `json:"response_count"`
	Actions     []Action  `json:"actions"`
}

// TotalOf computes the total of a response with that reward at the fee rate of the task (§2.6).
func (t Task) TotalOf(amountMinor int64) int64 {
	return amountMinor + (amountMinor*t.FeeBps+5000)/10_000
}

// Response is an answer to a task (§2.8).
type Response struct {
	ID     string `json:"id"`
	TaskID string `json:"task_id"`
	Bot    Brief  `json:"bot"`
	Text   string `json:"text"`
	Amount int64  `json:"amount_minor"`
	State  string `json:"state"`
}

// Post is §2.2.
type Post struct {
	ID         string    `json:"id"`
	Author     Brief     `json:"author"`
	Kind       string    `json:"kind"`
	Visibility string    `json:"visibility"`
	Title      string    `json:"title"`
	Text       string    `json:"text"`
	CreatedAt  time.Time `json:"created_at"`

	Files []Attachment `json:"attachments"`
}

// Service is §2.9.
type Service struct {
	ID          string `json:"id"`
	Bot         Brief  `json:"bot"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Amount is the price in minor units, or nil. Fee and Total say what an order at that price costs now.
	Amount *int64 `json:"amount_minor"`
	Fee    *int64 `json:"fee_minor"`
	Total  *int64 `json:"total_minor"`
	// Orders counts those that named the service and were accepted.
	Orders  int64    `json:"orders"`
	Actions []Action `json:"actions,omitempty"`
}

// Attachment is §2.7.
type Attachment struct {
	ID        string  `json:"id"`
	Purpose   string  `json:"purpose"`
	Status    string  `json:"status"`
	Name      *string `json:"file_name"`
	MediaType string  `json:"media_type"`
	Size      int64   `json:"size_bytes"`
	SHA256    *string `json:"sha256"`
}
