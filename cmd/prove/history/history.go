// Package history holds what a run of the proof has observed from outside: every request with its answer, every event that came
// over a socket, every ack, and when each fault was in force. The workload records, the judge reads.
//
// Times are durations since the run began, on the one monotonic clock of the recording process, so that they can be compared with
// each other and with nothing else. A Recorder may be used by any number of goroutines; a History is read only after the run.
package history

import (
	"encoding/json"
	"sync"
	"time"
)

// FilesOfAgent is how many active files an agent may have in a run: fewer than usually, so that a run can exceed it.
const FilesOfAgent = 40

// NoServer begins the Failure of a request for which the load balancer found no server.
const NoServer = "the load balancer: "

// MachineStarved is the name of the fault that the canary records: the machine had no time for anyone.
const MachineStarved = "machine-starved"

// Unanswered is the status of a request whose answer never came: the connection was refused, broke, or was given up. It may have
// had its effect or not, or may have it later.
const Unanswered = 0

// Attempt is one request as it went over the wire. A request that is repeated is several attempts with the same ID.
type Attempt struct {
	// Agent is the handle of the caller, empty for an anonymous one.
	Agent string `json:"agent,omitempty"`
	// Operation names what was asked, such as "order.accept" or "message.send".
	Operation string `json:"operation"`
	// ID is the idempotency key of the request, where it has one, else empty.
	ID string `json:"id,omitempty"`
	// Subject is the subject of the request: the order's id, the recipient's handle, the path that was read.
	Subject string `json:"subject,omitempty"`
	// Of names the thing that the subject belongs to, if the path has it: the task of a selection or a response, the draft of a reply.
	Of string `json:"of,omitempty"`
	// Sent is the body of a request that changes something whose present value is judged, else nil.
	Sent json.RawMessage `json:"sent,omitempty"`
	// Changed names the member in which the request differs from the one that was answered under its ID, empty for the same request.
	Changed string `json:"changed,omitempty"`
	// Version is the expected_version of an operation on an order.
	Version int64 `json:"version,omitempty"`
	// Process is the server process that answered, as the load balancer names it; empty if none did.
	Process string `json:"process,omitempty"`

	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
	// Status is the HTTP status, or Unanswered.
	Status int `json:"status"`
	// Code is the fault's code (§7) of an answer other than 2xx.
	Code string `json:"code,omitempty"`
	// RetryAfter says that the answer had a Retry-After header.
	RetryAfter bool `json:"retry_after,omitempty"`
	// Tool says that a tool was called in the place of the request; the answer is that of the request, without the members
	// that the tool leaves out (§4.11).
	Tool bool `json:"tool,omitempty"`
	// Slow says that the body was sent in small pieces over many seconds.
	Slow bool `json:"slow,omitempty"`
	// Changes says that the request counts as a change (§8).
	Changes bool `json:"changes,omitempty"`
	// Replayed says that the answer was marked as one that was stored and is given again.
	Replayed bool `json:"replayed,omitempty"`
	// Failure is why there was no answer.
	Failure string `json:"failure,omitempty"`
	// Body is the answer of operations whose answers are judged, else nil.
	Body json.RawMessage `json:"body,omitempty"`
	// Lost says that a restore may have undone it. The judge sets it.
	Lost bool `json:"-"`
}

// Succeeded reports a 2xx.
func (a Attempt) Succeeded() bool { return a.Status >= 200 && a.Status < 300 }

// Delivery is one event that a socket or a poll received.
type Delivery struct {
	Agent string `json:"agent"`
	// Connection counts the sockets and polls of the run; ConnectedAt is when the handshake was answered or the poll was asked for.
	Connection  int           `json:"connection"`
	ConnectedAt time.Duration `json:"connected_at"`
	At          time.Duration `json:"at"`
	// Process is the server of a socket, as the load balancer names it.
	Process string `json:"process,omitempty"`

	// Webhook says that it came by a webhook, Answer what its receiver answered, and Answered when. Hook is the webhook's id, Wrong
	// what the receiver objects to.
	Webhook  bool          `json:"webhook,omitempty"`
	Answer   int           `json:"answer,omitempty"`
	Answered time.Duration `json:"answered,omitempty"`
	Hook     string        `json:"hook,omitempty"`
	Wrong    string        `json:"wrong,omitempty"`
	// Asked is the version of the events that the agent asked for (§6).
	Asked int `json:"asked,omitempty"`

	EventID string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// Ack is an acknowledgement that the server has answered.
type Ack struct {
	Agent string `json:"agent"`
	// Connection is the socket's, or 0 for an ack by a request.
	Connection int           `json:"connection"`
	EventID    string        `json:"event_id"`
	Answered   time.Duration `json:"answered"`
}

// Fault is a fault that was in force from Start until service had returned at End.
type Fault struct {
	Name string `json:"name"`
	// Target is the part that it hit, such as "server 2".
	Target string        `json:"target"`
	Start  time.Duration `json:"start"`
	// Lifted is when the cause was taken away, or was over by itself.
	Lifted time.Duration `json:"lifted"`
	// End is when every process was ready again.
	End time.Duration `json:"end"`
	// Failover says that another database took over or that the database crashed: tables without a log are empty afterwards, and
	// limits count anew.
	Failover bool `json:"failover,omitempty"`
	// Graceful says that no request may fail and no answer be a 503 on its account.
	Graceful bool `json:"graceful,omitempty"`
	// Mail says that it hit only the mail server, so that nothing but mails may come late.
	Mail bool `json:"mail,omitempty"`
}

// Delay is an answer that the canary had to wait for: the machine was busy. Half a second and more is the fault MachineStarved.
type Delay struct {
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
}

// Loss is a backup that was restored: what was answered from the beginning of the backup until the restore may be gone.
type Loss struct {
	// Begun is when the backup began, Made when it was complete.
	Begun time.Duration `json:"begun"`
	Made  time.Duration `json:"made"`
	// Stopped is when the servers got the signal to end, Restored when the backup had taken the database's place and none ran yet.
	Stopped  time.Duration `json:"stopped"`
	Restored time.Duration `json:"restored"`
}

// Mail is a mail about a challenge (§4.1) that the mail server has taken.
type Mail struct {
	At        time.Duration `json:"at"`
	To        string        `json:"to"`
	MessageID string        `json:"message_id"`
	// Challenge is the id in the link of the mail.
	Challenge string `json:"challenge"`
	// Answered says that the mail server has confirmed the mail to its sender.
	Answered bool `json:"answered"`
}

// Sent is a message that an agent tried to send.
type Sent struct {
	ClientMessageID string `json:"client_message_id"`
	Sender          string `json:"sender"`
	Recipient       string `json:"recipient"`
	// Nonce is in base64.
	Nonce string `json:"nonce"`
	// Ciphertext is the sealed text, in base64.
	Ciphertext string `json:"ciphertext"`
	// Text is the text that the recipient must read.
	Text string `json:"text"`
}

// Member is an agent of the run.
type Member struct {
	Handle string `json:"handle"`
	ID     string `json:"id"`
}

// Burst is a series of requests that together exceed one limit.
type Burst struct {
	// Limit names the limit, such as "messages a minute".
	Limit string `json:"limit"`
	// Allowed is the figure of §8 less what the same caller had used before.
	Allowed int `json:"allowed"`
	// Operation and Agent select the attempts of the burst between Start and End; Agent is empty for those of several callers.
	Operation string        `json:"operation"`
	Agent     string        `json:"agent,omitempty"`
	Start     time.Duration `json:"start"`
	End       time.Duration `json:"end"`
	// Code is the fault of a request over the limit.
	Code string `json:"code"`
	// AtMost says that fewer may succeed, since the caller may have used some just before.
	AtMost bool `json:"at_most,omitempty"`
}

// History is everything that was recorded, and the final state that was read from the servers once the faults were over.
type History struct {
	Seed       uint64        `json:"seed"`
	Length     time.Duration `json:"length"`
	Members    []Member      `json:"members"`
	Attempts   []Attempt     `json:"attempts"`
	Deliveries []Delivery    `json:"deliveries"`
	Acks       []Ack         `json:"acks"`
	Faults     []Fault       `json:"faults"`
	Losses     []Loss        `json:"losses,omitempty"`
	Delays     []Delay       `json:"delays,omitempty"`
	Sent       []Sent        `json:"sent"`
	Bursts     []Burst       `json:"bursts"`
	Mails      []Mail        `json:"mails"`
	Final      Final         `json:"final"`
}

// Final holds the servers' state after everything has settled.
type Final struct {
	// Orders are the answers of GET /orders/{id} by id.
	Orders map[string]json.RawMessage `json:"orders"`
	// Entries are the ledger entries of each agent, by handle, oldest first.
	Entries map[string][]Entry `json:"entries"`
	// Wallets are the balances of each agent, by handle.
	Wallets map[string]Wallet `json:"wallets"`
	// Messages are all messages that the two sides of a friendship list, by "reader/peer" handles, oldest first.
	Messages map[string][]Message `json:"messages"`
	// Posts are the ids of each agent's posts, by handle, with their titles.
	Posts map[string]map[string]string `json:"posts"`
	// Files are the hashes of each agent's ready files, by id.
	Files map[string]string `json:"files"`
	// Onboarding are the answers of GET /bots/me/onboarding of each agent, by handle.
	Onboarding map[string]json.RawMessage `json:"onboarding"`
	// Log is the key log (§12.2).
	Log Log `json:"log"`
	// Receipts are the answers of GET /orders/{id}/receipt by "reader/order"; an order without a receipt has no entry. ReceiptLists are
	// the ids of the orders that each agent's list of receipts names, by handle.
	Receipts     map[string]json.RawMessage `json:"receipts"`
	ReceiptLists map[string][]string        `json:"receipt_lists"`
	// Exports are the archives that agents have made of everything, by handle.
	Exports map[string]Export `json:"exports"`
	// Acts are the acts of operators that were answered, Audit the entries of the audit log: each a procedure and the agent that it
	// was done to, if any.
	Acts  []string `json:"acts"`
	Audit []string `json:"audit"`
	// Ledger holds the findings of the invariants in SQL: none are expected.
	Ledger []string `json:"ledger"`
	// Before and After are the resources that a quiet server holds, before the load and after it.
	Before map[string]float64 `json:"before"`
	After  map[string]float64 `json:"after"`
}

// Log is the key log as it was read at the end.
type Log struct {
	// Keys is /.well-known/stoa-keys.json, ReceiptKeys /.well-known/jwks.json.
	Keys        json.RawMessage `json:"keys"`
	ReceiptKeys json.RawMessage `json:"receipt_keys"`
	// Entries are all entries in their order.
	Entries [][]byte `json:"entries"`
	// Cards are the agents' own records, Proofs what the log says of the entries that they name, by handle.
	Cards  map[string]json.RawMessage `json:"cards"`
	Proofs map[string]string          `json:"proofs"`
}

// Export holds the contents of an agent's archive (§12.6).
type Export struct {
	// Members are the ids of the records by the name of their member, such as "posts.jsonl".
	Members map[string][]string `json:"members"`
	// Manifest is the signed list of the members, Sums are the SHA-256 of the members in hex, by name.
	Manifest string            `json:"manifest"`
	Sums     map[string]string `json:"sums"`
}

// Entry is a ledger entry (§2.5).
type Entry struct {
	ID            int64  `json:"id"`
	TransactionID string `json:"transaction_id"`
	OperationID   string `json:"operation_id"`
	Kind          string `json:"kind"`
	AccountKind   string `json:"account_kind"`
	OrderID       string `json:"order_id"`
	DeltaMinor    int64  `json:"delta_minor"`
}

// Wallet is an agent's balances (§2.5).
type Wallet struct {
	AvailableMinor int64 `json:"available_minor"`
	ReservedMinor  int64 `json:"reserved_minor"`
	TotalMinor     int64 `json:"total_minor"`
}

// Message is a message as the server lists it (§2.4), and what it decrypts to.
type Message struct {
	ID              string `json:"id"`
	ClientMessageID string `json:"client_message_id"`
	SenderID        string `json:"sender_id"`
	Ciphertext      string `json:"ciphertext"`
	// Text is empty if the message could not be opened.
	Text string `json:"text"`
}

// Recorder collects a History.
type Recorder struct {
	begin time.Time

	mu      sync.Mutex
	history History
}

// NewRecorder begins a history: its times count from now.
func NewRecorder(seed uint64) *Recorder {
	return &Recorder{begin: time.Now(), history: History{Seed: seed}}
}

// Now is the time since the run began.
func (r *Recorder) Now() time.Duration { return time.Since(r.begin) }

// Record calls add with the history, under its lock. add must not block.
func (r *Recorder) Record(add func(h *History)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.history)
}

// Finish returns the history. Nothing may be recorded afterwards.
func (r *Recorder) Finish() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Length = r.Now()
	return &r.history
}
