// Package history holds the observations of a proof from outside: every request with its answer, every event that came over a
// socket, every ack, and when each fault was in force. The workload records, the judge reads.
//
// Times are durations since the run began, on one monotonic clock of the recording process. They can be compared only with each
// other. A Recorder may be used by any number of goroutines; a History is read only after the run.
package history

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

const (
	// FilesOfAgent is how many active files an agent may have in a run. It is lower than usual, so that a run can exceed it.
	FilesOfAgent = 40
	// NoServer begins the Failure of a request if the load balancer found no server.
	NoServer = "the load balancer: "
	// MachineStarved is the name of the fault that the canary records: the machine had no processor time left.
	MachineStarved = "machine-starved"
	// Unanswered is the status of a request without an answer: the connection was refused, broke, or was given up. The request
	// may have taken effect, or may still do so.
	Unanswered = 0
	// Refuted is the status if the agents' own client proves an answer of the server wrong. The Failure has the reason.
	Refuted = 1
)

// Attempt is one request on the wire. A repeated request is several attempts with the same ID.
type Attempt struct {
	Agent     string          `json:"agent,omitempty"`   // handle of the caller, empty for an anonymous one
	Operation string          `json:"operation"`         // such as "order.accept" or "message.send"
	ID        string          `json:"id,omitempty"`      // idempotency key of the request, if it has one
	Subject   string          `json:"subject,omitempty"` // such as the order's id, the recipient's handle, the path that was read
	Of        string          `json:"of,omitempty"`      // owner of the subject, such as the task of a response
	Sent      json.RawMessage `json:"sent,omitempty"`    // body of a request that changes something whose present value is judged
	Changed   string          `json:"changed,omitempty"` // member that differs from the request answered under the ID
	Version   int64           `json:"version,omitempty"` // expected_version of an operation on an order
	Process   string          `json:"process,omitempty"` // server that answered, as the load balancer names it; empty if none did

	Start      time.Duration   `json:"start"`
	End        time.Duration   `json:"end"`
	Status     int             `json:"status"`                // the HTTP status, or Unanswered
	Code       string          `json:"code,omitempty"`        // the fault's code (§7) of an answer other than 2xx
	RetryAfter bool            `json:"retry_after,omitempty"` // the answer had a Retry-After header
	Slow       bool            `json:"slow,omitempty"`        // the body was sent in small pieces over many seconds
	Changes    bool            `json:"changes,omitempty"`     // the request counts as a change (§8)
	Replayed   bool            `json:"replayed,omitempty"`    // the answer was marked as a stored one
	Failure    string          `json:"failure,omitempty"`     // why there was no answer
	Body       json.RawMessage `json:"body,omitempty"`        // answer of operations whose answers are judged, else nil
	Lost       bool            `json:"-"`                     // a restore may have undone it; the judge sets it
}

// Succeeded reports whether the status is 2xx.
func (a Attempt) Succeeded() bool { return a.Status >= 200 && a.Status < 300 }

// Delivery is one event that a socket, a poll, a stream or a webhook received.
type Delivery struct {
	Agent       string        `json:"agent"`
	Connection  int           `json:"connection"`   // counts the connections of the run
	ConnectedAt time.Duration `json:"connected_at"` // when the handshake was answered or the poll was asked for
	At          time.Duration `json:"at"`
	Process     string        `json:"process,omitempty"` // server of a socket, as the load balancer names it
	// Answer is the status of a webhook's receiver, sent at Answered. Wrong is its reason to refuse.
	Webhook  bool            `json:"webhook,omitempty"`
	Answer   int             `json:"answer,omitempty"`
	Answered time.Duration   `json:"answered,omitempty"`
	Hook     string          `json:"hook,omitempty"` // the webhook's id
	Wrong    string          `json:"wrong,omitempty"`
	Asked    int             `json:"asked,omitempty"` // version of the events that the agent asked for (§6)
	EventID  string          `json:"event_id"`
	Kind     string          `json:"kind"`
	Payload  json.RawMessage `json:"payload"`
}

// Ack is an acknowledgement that the server has answered.
type Ack struct {
	Agent      string        `json:"agent"`
	Connection int           `json:"connection"` // the socket's, or 0 for an ack by a request
	EventID    string        `json:"event_id"`
	Answered   time.Duration `json:"answered"`
}

// Fault is a fault that was in force from Start until the service was back at End.
type Fault struct {
	Name     string        `json:"name"`
	Target   string        `json:"target"` // the part that it hit, such as "server 2"
	Start    time.Duration `json:"start"`
	Lifted   time.Duration `json:"lifted"`             // when the cause was removed or ended
	End      time.Duration `json:"end"`                // when every process was ready again
	Failover bool          `json:"failover,omitempty"` // tables without a log are empty afterwards, and limits count anew
	Graceful bool          `json:"graceful,omitempty"` // no request may fail or get 503 because of it
	Mail     bool          `json:"mail,omitempty"`     // it hit only the mail server: nothing but mails may come late
}

// Delay is a late answer to the canary: the machine was busy. From half a second on it is the fault MachineStarved.
type Delay struct {
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
}

// Loss is a restored backup: everything that was answered from the backup's begin until the restore may be gone.
type Loss struct {
	Begun    time.Duration `json:"begun"`    // when the backup began
	Stopped  time.Duration `json:"stopped"`  // when the servers got the signal to end
	Restored time.Duration `json:"restored"` // when it had taken the database's place; no server ran yet
}

// Mail is a mail about a challenge (§4.1) that the mail server has accepted.
type Mail struct {
	At        time.Duration `json:"at"`
	To        string        `json:"to"`
	MessageID string        `json:"message_id"`
	Challenge string        `json:"challenge"` // the id in the link of the mail
	Answered  bool          `json:"answered"`  // the mail server has confirmed the mail to its sender
}

// MessageText is the text of a message, which its recipient must read.
func MessageText(sender, recipient, id string) string { return sender + " to " + recipient + ": " + id }

// Burst is a series of requests that together exceed one limit. Operation and Agent select its attempts between Start and End.
type Burst struct {
	Limit     string        `json:"limit"`   // such as "messages a minute"
	Allowed   int           `json:"allowed"` // figure of §8 less the earlier use by the same caller
	Operation string        `json:"operation"`
	Agent     string        `json:"agent,omitempty"` // empty for several callers
	Start     time.Duration `json:"start"`
	End       time.Duration `json:"end"`
	Code      string        `json:"code"`              // fault of a request over the limit
	AtMost    bool          `json:"at_most,omitempty"` // fewer may succeed, since the caller may have used some just before
}

// History is everything that was recorded, and the final state that was read from the servers after the faults.
type History struct {
	Seed       uint64        `json:"seed"`
	Length     time.Duration `json:"length"`
	Attempts   []Attempt     `json:"attempts"`
	Deliveries []Delivery    `json:"deliveries"`
	Acks       []Ack         `json:"acks"`
	Faults     []Fault       `json:"faults"`
	Losses     []Loss        `json:"losses,omitempty"`
	Delays     []Delay       `json:"delays,omitempty"`
	Bursts     []Burst       `json:"bursts"`
	Mails      []Mail        `json:"mails"`
	Final      Final         `json:"final"`
}

// Final holds the servers' state after all activity has ended.
type Final struct {
	Orders     map[string]json.RawMessage `json:"orders"`     // answers of GET /orders/{id}, by id
	Entries    map[string][]Entry         `json:"entries"`    // ledger of each agent, by handle, oldest first
	Wallets    map[string]Wallet          `json:"wallets"`    // balances of each agent, by handle
	Messages   map[string][]Message       `json:"messages"`   // as each friend lists them, by "reader/peer", oldest first
	Files      map[string]string          `json:"files"`      // hashes of ready files, by id
	Onboarding map[string]json.RawMessage `json:"onboarding"` // answers of GET /bots/me/onboarding, by handle
	LogAgents  int                        `json:"log_agents"` // entries of agents in the key log
	Receipts   map[string]Receipt         `json:"receipts"`   // of orders that have one, by "reader/order"
	// Acts are the answered actions of operators, Audit the entries of the audit log: each a procedure and the agent that it was
	// applied to, if any.
	Acts   []string           `json:"acts"`
	Audit  []string           `json:"audit"`
	Ledger []string           `json:"ledger"` // findings of the invariants in SQL: none are expected
	Before map[string]float64 `json:"before"` // resources that a quiet server holds, before the load
	After  map[string]float64 `json:"after"`  // the same after the load
}

// Receipt is the receipt of an order (§12.5), as its reader's client has verified it.
type Receipt struct {
	Wrong        string   `json:"wrong,omitempty"` // why it is not sound
	ID           string   `json:"id"`
	Outcome      string   `json:"outcome"`
	OrderVersion int64    `json:"order_version"`
	TotalMinor   int64    `json:"total_minor"`
	Ratings      []string `json:"ratings"` // their ids
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

// Message is a message as the server lists it (§2.4), with its decrypted text.
type Message struct {
	ID              string `json:"id"`
	ClientMessageID string `json:"client_message_id"`
	SenderID        string `json:"sender_id"`
	Ciphertext      string `json:"ciphertext"`
	Text            string `json:"text"` // empty if the message could not be opened
}

// Recorder collects a History.
type Recorder struct {
	begin time.Time

	mu      sync.Mutex
	history History
	// inForce are the faults of Begin that have not ended.
	inForce [][]Fault
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

// Begin notes faults that are in force from now on. end records those of them that had an effect.
func (r *Recorder) Begin(faults ...Fault) (end func(effective ...Fault)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inForce = append(r.inForce, faults)
	return func(effective ...Fault) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inForce = slices.DeleteFunc(r.inForce, func(other []Fault) bool { return &other[0] == &faults[0] })
		r.history.Faults = append(r.history.Faults, effective...)
	}
}

// InForce names the faults in force, without MachineStarved.
func (r *Recorder) InForce() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fault := range slices.Concat(r.inForce...) {
		if fault.Name != MachineStarved {
			names = append(names, fault.Name)
		}
	}
	return names
}

// Known returns the record so far, in which the faults in force end in a day.
func (r *Recorder) Known() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.history
	h.Length, h.Faults = r.Now(), slices.Clone(h.Faults)
	for _, fault := range slices.Concat(r.inForce...) {
		fault.Lifted, fault.End = h.Length+24*time.Hour, h.Length+24*time.Hour
		h.Faults = append(h.Faults, fault)
	}
	return &h
}

// The operations of attempts that the judge knows by name, each with the Body that it needs of a 2xx answer. Of all others it
// judges only the status.
const (
	Register           = "register"            // Subject: the handle; with the proof of an owner ID: the handle; Body: {bot, token}
	RegistrationVerify = "registration.verify" // enters the code of a registration's proof; Subject: the address

	MessageSend    = "message.send"    // Subject: the recipient's handle; Sent: the sealed message; Body: {message}
	ContactRequest = "contact.request" // Subject: the other agent's handle, as of the next two; Body: {contact}
	ContactAccept  = "contact.accept"
	ContactBlock   = "contact.block"
	ContactList    = "contact.list"

	FileUpload  = "file.upload"  // Subject: the SHA-256 of the file in hex; Body: {attachment}
	FileUnsound = "file.unsound" // uploads a file that is not valid for its kind

	TaskCreate       = "task.create"       // Body: {task}
	TaskClose        = "task.close"        // Subject: the task's id; Body: {task}
	TaskGet          = "task.get"          // Subject: the task's id; Body: {task}
	TaskRespond      = "task.respond"      // ID: "TASK by HANDLE"; Subject: the task's id; Body: {response}
	TaskSelect       = "order.select"      // makes an order; Of: the task's id; Body: {order}
	ResponseUpdate   = "response.update"   // Subject: the response's id; Of: the task's id
	ResponseWithdraw = "response.withdraw" // Subject: the response's id; Of: the task's id
	ResponseList     = "response.list"     // Subject: the task's id; Body: {responses}

	PostCreate    = "post.create"    // ID: the title, which no other post of the agent has; Body: {post}
	PostUpdate    = "post.update"    // Subject: the post's id; Sent: the members that it sets
	PostDelete    = "post.delete"    // Subject: the post's id
	PostGet       = "post.get"       // Subject: the post's id; Body: {post}
	PostFeed      = "post.feed"      // Body: {posts}, the first page of those that the agent sees
	ProfileUpdate = "profile.update" // Sent: the members that it sets
	CardGet       = "card.get"       // Subject: the agent's handle; Body: {bot}

	TokenRotate  = "token.rotate"  // ends the token that is named in Of
	TokenRevoke  = "token.revoke"  // ends the token that is named in Of
	TokenReissue = "token.reissue" // an operator's: ends the token that is named in Of
	TokenUse     = "token.use"     // reads the own record with the token that is named in Of
	TokenSocket  = "token.socket"  // waits for the end of a socket whose token has ended: 401 if it ended, 200 if it was still open

	LogAudit = "log.audit" // an audit of the whole key log by the agents' own client: 200 or Refuted
	LogOwn   = "log.own"   // the same, with the agent's own entry

	ErasureRequest = "erasure.request" // asks that the agent be erased
	ErasureDue     = "erasure.due"     // waits for an erasure whose time has come, until the agent's token has ended

	WebhookCreate = "webhook.create" // Subject: the agent's handle
	EventPoll     = "event.poll"     // waits for events without a socket; its results are deliveries
	EventAck      = "event.ack"      // acknowledges events; its results are acks
	EventSocket   = "event.socket"   // the life of a socket, from the answer to its handshake on; Of: the number of the connection

	OwnerRequest = "owner.request" // asks for a code; Subject: the address; Body: {challenge_id}
	OwnerOpen    = "owner.open"    // the owner's page of a mail; Agent: the owner's; Subject: the challenge's id
	OwnerConfirm = "owner.confirm" // the form of that page
	OwnerGuess   = "owner.guess"   // enters a wrong code; Subject: the challenge's id
	OwnerVerify  = "owner.verify"  // enters the code; ID: the challenge's id; Subject: the address; Body: {email_verification}

	WalletGet     = "wallet.get"     // Body: {wallet}
	WalletHistory = "wallet.history" // Subject: the path with its query; Body: {entries, next_before}

	OrderGet           = "order.get" // Subject: the order's id; Body: {order, events}; all other operations on an order have {order}
	OrderCreate        = "order.create"
	OrderAccept        = "order.accept"
	OrderReject        = "order.reject"
	OrderCancel        = "order.cancel"
	OrderStart         = "order.start"
	OrderDeliver       = "order.deliver"
	OrderComplete      = "order.complete"
	OrderDispute       = "order.dispute"
	OrderProposeRefund = "order.propose-refund"
	OrderApproveRefund = "order.approve-refund"
	OrderRate          = "rating.create" // Subject: the order's id, as of the next three; Body: {rating}
	DraftSend          = "draft.send"    // Body: {draft}
	DraftReply         = "draft.reply"   // Of: the draft; Body: {draft}
	DraftList          = "draft.list"    // Body: {drafts}
)
