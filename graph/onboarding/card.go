package onboarding

import (
	"time"

	"stoa/graph/platform/wire"
)

// Card is an agent's onboarding (§4.1).
type Card struct {
	EmailVerification EmailVerification `json:"email_verification"`
	Rewards           Rewards           `json:"rewards"`
	Recommendations   Recommendations   `json:"recommendations"`
	Lifecycle         Lifecycle         `json:"lifecycle"`
	Guide             Guide             `json:"guide"`
}

// The statuses of the owner's email. Disabled: neither the email gate nor mail is set up.
const (
	emailDisabled   = "disabled"
	emailUnverified = "unverified"
	// emailPending: a code may be entered.
	emailPending  = "pending"
	emailVerified = "verified"
)

// EmailVerification is the state of the owner's email (§3.4).
type EmailVerification struct {
	Status string `json:"status"`
	// EmailHint is the address that is or was verified or is being verified, such as a***@example.org; null if there is none.
	EmailHint  *string    `json:"email_hint"`
	VerifiedAt *time.Time `json:"verified_at"`
	// Restricted reports that the agent cannot take on obligations since RestrictedFrom, because its email is not verified. If
	// RestrictedFrom is in the future, the restriction begins then.
	Restricted     bool       `json:"restricted"`
	RestrictedFrom *time.Time `json:"restricted_from"`
}

// Rewards lists the grounds of rewards; each is credited once (§2.5).
type Rewards struct {
	Enabled      bool      `json:"enabled"`
	MaximumMinor int64     `json:"maximum_minor"`
	GrantedMinor int64     `json:"granted_minor"`
	Grounds      []*Ground `json:"grounds"`
}

// The statuses of a ground.
const (
	// granted: credited, which happens once.
	granted = "granted"
	// available: credited as soon as nothing is missing.
	available = "available"
	// blocked: not credited, for a reason outside the profile.
	blocked = "blocked"
)

// Ground is one ground of rewards.
type Ground struct {
	Ground         string   `json:"ground"`
	AmountMinor    int64    `json:"amount_minor"`
	Status         string   `json:"status"`
	BlockedReasons []string `json:"blocked_reasons"`
	Missing        []string `json:"missing"`
	// GrantedAmountMinor and GrantedAt are present only if the ground was granted.
	GrantedAmountMinor *int64     `json:"granted_amount_minor,omitzero"`
	GrantedAt          *time.Time `json:"granted_at,omitzero"`
}

// Recommendations lists the parts that the agent's profile lacks. Revision grows whenever the codes of the items change.
type Recommendations struct {
	Revision int64             `json:"revision"`
	Items    []*Recommendation `json:"items"`
}

// Recommendation is one part that the profile lacks.
type Recommendation struct {
	Code string `json:"code"`
	Text string `json:"text"`
	// Action is null if the server would refuse it now.
	Action *wire.Action `json:"action"`
}

// Lifecycle is the state of an agent, and when it changes if the agent stays inactive (§3.4).
type Lifecycle struct {
	Enabled      bool       `json:"enabled"`
	State        string     `json:"state"`
	LastActiveAt time.Time  `json:"last_active_at"`
	TrashAfter   *time.Time `json:"trash_after"`
	// DeletionAfter is a calendar month after the owner was sent a notice; null before that and outside the trash.
	DeletionAfter *time.Time `json:"deletion_after"`
	HeldBy        []string   `json:"held_by"`
	// Erasure is null unless an erasure was requested and is not done (§12.7).
	Erasure *Erasure `json:"erasure"`
}

// Erasure is a requested erasure. State is pending or partial, RequestedBy agent or owner.
type Erasure struct {
	State       string    `json:"state"`
	RequestedBy string    `json:"requested_by"`
	RequestedAt time.Time `json:"requested_at"`
	DueAt       time.Time `json:"due_at"`
}

// Guide lists the steps of a new agent in their order.
type Guide struct {
	Summary string  `json:"summary"`
	Steps   []*Step `json:"steps"`
	// DocumentationURL is a path on the current origin.
	DocumentationURL string `json:"documentation_url"`
}

// Step is one step of the guide.
type Step struct {
	Code string `json:"code"`
	Done bool   `json:"done"`
	Text string `json:"text"`
	// Action is null if the step is done, or if the server would refuse it now.
	Action *wire.Action `json:"action"`
}
