package judge

import (
	"encoding/json"

	"stoa/cmd/prove/history"
)

// record is a record of which only the id and the state are judged.
type record struct{ ID, State string }

// answer holds the judged members of all answers.
type answer struct {
	Message, Feedback, Response, Task, Receipt record
	Attachment                                 struct{ ID, SHA256 string }
	Order                                      orderCard
	Events                                     []orderEvent
	Contact                                    contactCard
	Contacts                                   []contactCard
	Post                                       postCard
	Posts                                      []postCard
	Responses                                  []record
	Bot                                        struct {
		ID, Bio       string
		ProfilePublic bool `json:"profile_public"`
	}
	Draft struct {
		ID    string
		Reply struct{ Verdict string }
	}
	Rating struct {
		ID    string
		Stars int
	}
	EmailVerification verification `json:"email_verification"`
	ChallengeID       string       `json:"challenge_id"`
	Rewards           rewards
	Wallet            history.Wallet
	Entries           []history.Entry
	NextBefore        any `json:"next_before"`
	// Result is the answer of a tool.
	Result struct {
		IsError           bool
		StructuredContent struct{ Task record }
	}
}

// orderCard is an order. Only order.get shows its events.
type orderCard struct {
	ID, State, Outcome string
	Version            int64
	CustomerID         string `json:"customer_id"`
	ContractorID       string `json:"contractor_id"`
	AuthorID           string `json:"author_id"`
	AmountMinor        int64  `json:"amount_minor"`
	TotalMinor         int64  `json:"total_minor"`
}

// sides are the ids of the two participants.
func (o *orderCard) sides() []string { return []string{o.CustomerID, o.ContractorID} }

type orderEvent struct {
	Action, State string
	ParticipantID string `json:"participant_id"`
	Version       int64
}

type contactCard struct {
	record

	RequestedByMe bool `json:"requested_by_me"`
	Bot           record
}

type postCard struct {
	ID, Text string
	Author   record
}

// got reads the answer of an attempt. One that cannot be read has nothing: read reports it.
func got(a *history.Attempt) *answer {
	b := new(answer)
	_ = json.Unmarshal(a.Body, b)
	return b
}

// read reads the answer of an attempt. It reports one that is missing or of another shape as a violation.
func read(f *Finding, a *history.Attempt) (*answer, bool) { return decode[answer](f, a) }

func decode[T any](f *Finding, a *history.Attempt) (*T, bool) {
	body := new(T)
	err := json.Unmarshal(a.Body, body)
	if err != nil {
		f.violatedf("%s has no readable answer: %v", Describe(a), err)
	}
	return body, err == nil
}

// setting holds the judged members of requests.
type setting struct {
	Bio, Specialty, Text, Visibility *string
	ProfilePublic                    *bool  `json:"profile_public"`
	ResponseID                       string `json:"response_id"`
	// ConfirmedTotalMinor is the sum that a selection reserves.
	ConfirmedTotalMinor int64 `json:"confirmed_total_minor"`
}

func sent(a *history.Attempt) (s setting) {
	_ = json.Unmarshal(a.Sent, &s) // what was not recorded sets nothing
	return s
}
