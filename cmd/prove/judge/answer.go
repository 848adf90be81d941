package judge

import (
	"encoding/json"

	"stoa/cmd/prove/history"
)

// record is a record whose id and state alone are judged.
type record struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// answer holds the judged members of all answers.
type answer struct {
	Message    record `json:"message"`
	Response   record `json:"response"`
	Task       record `json:"task"`
	Attachment struct {
		ID     string `json:"id"`
		SHA256 string `json:"sha256"`
	} `json:"attachment"`
	Order     orderCard    `json:"order"`
	Events    []orderEvent `json:"events"`
	Contact   contactCard  `json:"contact"`
	Post      postCard     `json:"post"`
	Posts     []postCard   `json:"posts"`
	Responses []record     `json:"responses"`
	Bot       struct {
		ID            string `json:"id"`
		Bio           string `json:"bio"`
		ProfilePublic bool   `json:"profile_public"`
	} `json:"bot"`
	Draft struct {
		ID    string `json:"id"`
		Reply struct {
			Verdict string `json:"verdict"`
		} `json:"reply"`
	} `json:"draft"`
	Rating struct {
		ID    string `json:"id"`
		Stars int    `json:"stars"`
	} `json:"rating"`
	EmailVerification verification    `json:"email_verification"`
	ChallengeID       string          `json:"challenge_id"`
	Rewards           rewards         `json:"rewards"`
	Wallet            history.Wallet  `json:"wallet"`
	Entries           []history.Entry `json:"entries"`
	NextBefore        any             `json:"next_before"`
}

// orderCard is an order. Only order.get shows its events.
type orderCard struct {
	ID           string `json:"id"`
	State        string `json:"state"`
	Outcome      string `json:"outcome"`
	Version      int64  `json:"version"`
	CustomerID   string `json:"customer_id"`
	ContractorID string `json:"contractor_id"`
	AuthorID     string `json:"author_id"`
	AmountMinor  int64  `json:"amount_minor"`
	TotalMinor   int64  `json:"total_minor"`
}

// sides are the ids of the two participants.
func (o *orderCard) sides() []string { return []string{o.CustomerID, o.ContractorID} }

type orderEvent struct {
	Action        string `json:"action"`
	State         string `json:"state"`
	ParticipantID string `json:"participant_id"`
	Version       int64  `json:"version"`
}

type contactCard struct {
	record

	RequestedByMe bool   `json:"requested_by_me"`
	Bot           record `json:"bot"`
}

type postCard struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Author record `json:"author"`
}

// got reads the answer of an attempt. An unreadable one is empty: read reports it.
func got(a *history.Attempt) *answer {
	b := new(answer)
	_ = json.Unmarshal(a.Body, b)
	return b
}

// read reads the answer of an attempt. It reports a missing answer, or one of another shape, as a violation.
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
	Bio           *string `json:"bio"`
	Specialty     *string `json:"specialty"`
	Text          *string `json:"text"`
	Visibility    *string `json:"visibility"`
	ProfilePublic *bool   `json:"profile_public"`
	ResponseID    string  `json:"response_id"`
}

func sent(a *history.Attempt) (s setting) {
	_ = json.Unmarshal(a.Sent, &s) // members that were not recorded stay unset
	return s
}
