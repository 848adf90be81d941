package onboarding

import (
	"slices"
	"time"

	"github.com/lib/pq"
)

// row is a row of select_onboarding: one ground of rewards, and the facts, which are the same in each.
type row struct {
	Ground  string         `db:"ground"`
	Missing pq.StringArray `db:"missing"`
	// GrantedAmountMinor and GrantedAt are null if the reward was not granted.
	GrantedAmountMinor *int64     `db:"granted_amount_minor"`
	GrantedAt          *time.Time `db:"granted_at"`
	facts
}

// facts holds the stored values of an agent, and the settings that concern it.
type facts struct {
	EmailGateEnabled bool `db:"email_gate_enabled"`
	// SendsMail reports whether mail is set up.
	SendsMail       bool       `db:"-"`
	EmailVerifiedAt *time.Time `db:"email_verified_at"`
	// OwnerAddress is null without an owner, ChallengedAddress unless a code may be entered.
	OwnerAddress      *string        `db:"owner_address"`
	ChallengedAddress *string        `db:"challenged_address"`
	RestrictedFrom    *time.Time     `db:"restricted_from"`
	Restricted        bool           `db:"restricted"`
	RewardsEnabled    bool           `db:"rewards_enabled"`
	BlockedReasons    pq.StringArray `db:"blocked_reasons"`
	Revision          int64          `db:"revision"`
	// Lacks lists the parts that the profile lacks (stoa_profile_lacks).
	Lacks pq.StringArray `db:"lacks"`
	// Active is of stoa_active.
	ProfilePublic    bool           `db:"profile_public"`
	Active           bool           `db:"active"`
	LifecycleEnabled bool           `db:"lifecycle_enabled"`
	State            string         `db:"state"`
	LastActiveAt     time.Time      `db:"last_active_at"`
	TrashAfter       *time.Time     `db:"trash_after"`
	DeletionAfter    *time.Time     `db:"deletion_after"`
	HeldBy           pq.StringArray `db:"held_by"`
	// ErasureBy, ErasureAt and ErasureDue are null unless an erasure was requested and is not done. ErasureState is then its state.
	ErasureState string     `db:"erasure_state"`
	ErasureBy    *string    `db:"erasure_by"`
	ErasureAt    *time.Time `db:"erasure_at"`
	ErasureDue   *time.Time `db:"erasure_due"`
	// Connected: a connection to the event channel is open.
	Connected bool `db:"connected"`
	// Befriended: a contact was accepted at some time.
	Befriended bool `db:"befriended"`
	Serving    bool `db:"serving"`
	Ordered    bool `db:"ordered"`
}

// erasure returns the open erasure, nil for none.
func (f *facts) erasure() *Erasure {
	if f.ErasureBy == nil {
		return nil
	}
	return &Erasure{State: f.ErasureState, RequestedBy: *f.ErasureBy, RequestedAt: *f.ErasureAt, DueAt: *f.ErasureDue}
}

// has reports whether the profile has the part that stoa_profile_lacks calls item.
func (f *facts) has(item string) bool { return !slices.Contains(f.Lacks, item) }
