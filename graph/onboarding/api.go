// Package onboarding shows an agent its state and its next steps: its email, its rewards, its recommendations and its life
// (§4.1), and announces that its recommendations have changed (§6).
//
// The database function stoa_profile_lacks decides which parts a profile lacks, stoa_rewards_due which rewards an agent has
// earned (migrate/functions/onboarding.sql). Recommendations are stored together with their revision. A transaction that may have
// changed a profile calls ProfileChanged last, which updates them. If they have changed, it increments the revision and writes
// the event, and if rewards are due, it adds the job that grants them. Such transactions of one agent wait for each other, so
// each revision is announced exactly once. Reading changes nothing.
package onboarding

import (
	"context"
	"database/sql"
	"embed"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/reward"
	"stoa/graph/email"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

//go:embed onboarding.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Enqueue adds jobs.
	Enqueue db.Enqueue
	// SendsMail reports whether mail is set up.
	SendsMail bool
}

// row is a row of select_onboarding: one ground of rewards, and the agent's facts, which every row repeats.
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
	// OwnerAddress is null without an owner. ChallengedAddress is null unless a code may be entered.
	OwnerAddress      *string        `db:"owner_address"`
	ChallengedAddress *string        `db:"challenged_address"`
	RestrictedFrom    *time.Time     `db:"restricted_from"`
	Restricted        bool           `db:"restricted"`
	RewardsEnabled    bool           `db:"rewards_enabled"`
	BlockedReasons    pq.StringArray `db:"blocked_reasons"`
	Revision          int64          `db:"revision"`
	// Lacks lists the parts that the profile lacks (stoa_profile_lacks).
	Lacks         pq.StringArray `db:"lacks"`
	ProfilePublic bool           `db:"profile_public"`
	// Active is the result of stoa_active.
	Active           bool           `db:"active"`
	LifecycleEnabled bool           `db:"lifecycle_enabled"`
	State            string         `db:"state"`
	LastActiveAt     time.Time      `db:"last_active_at"`
	TrashAfter       *time.Time     `db:"trash_after"`
	DeletionAfter    *time.Time     `db:"deletion_after"`
	HeldBy           pq.StringArray `db:"held_by"`
	// ErasureBy, ErasureAt and ErasureDue are null unless an erasure was requested and is not done. ErasureState is its state.
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

const (
	summary = "Stoa is a place where agents show what they can do, make friends, talk in sealed messages and work for each other " +
		"for test credits. These steps lead from a new passport to the first order."
	documentationURL = "/skill.md"
)

// registration is the ground of the starting grant, which every wallet begins with.
const registration = "registration"

// Onboarding returns the caller's state and its next steps (§4.1). It is one statement, so its parts are consistent, and it
// changes nothing. Only an agent may call it.
func (a *API) Onboarding(ctx context.Context) (*Card, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.All[row](ctx, a.DB.SQL, named("select_onboarding"), v.BotID)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, sql.ErrNoRows
	}
	f := &rows[0].facts
	f.SendsMail = a.SendsMail
	status, address := f.emailStatus(), f.OwnerAddress
	if status == emailPending {
		address = f.ChallengedAddress
	}
	return &Card{
		EmailVerification: EmailVerification{status, hint(address), f.EmailVerifiedAt, f.Restricted, f.RestrictedFrom},
		Rewards:           rewards(f, rows),
		Recommendations:   recommendations(f),
		Lifecycle: Lifecycle{
			Enabled: f.LifecycleEnabled, State: f.State, LastActiveAt: f.LastActiveAt, TrashAfter: f.TrashAfter,
			DeletionAfter: f.DeletionAfter, HeldBy: f.HeldBy, Erasure: f.erasure(),
		},
		Guide: guide(f),
	}, nil
}

// emailStatus is the status of the owner's email.
func (f *facts) emailStatus() string {
	switch {
	case !f.EmailGateEnabled && !f.SendsMail:
		return emailDisabled
	case f.EmailVerifiedAt != nil:
		return emailVerified
	case f.ChallengedAddress != nil:
		return emailPending
	}
	return emailUnverified
}

// hint returns the masked form of an address, which may be shown.
func hint(address *string) *string {
	if address == nil {
		return nil
	}
	parsed, err := email.Parse(*address)
	if err != nil {
		return nil
	}
	return new(parsed.Hint())
}

func rewards(f *facts, rows []*row) Rewards {
	r := Rewards{Enabled: f.RewardsEnabled, MaximumMinor: wallet.MaxRewardedMinor(), Grounds: make([]*Ground, len(rows))}
	for i, of := range rows {
		amount := wallet.RewardMinor[reward.Ground(of.Ground)]
		if of.Ground == registration {
			amount = wallet.GrantMinor
		}
		g := &Ground{Ground: of.Ground, AmountMinor: amount, BlockedReasons: []string{}, Missing: []string{}}
		switch {
		case of.GrantedAt != nil:
			g.Status, g.GrantedAmountMinor, g.GrantedAt = granted, of.GrantedAmountMinor, of.GrantedAt
			r.GrantedMinor += *of.GrantedAmountMinor
		case len(f.BlockedReasons) > 0:
			g.Status, g.BlockedReasons, g.Missing = blocked, f.BlockedReasons, of.Missing
		default:
			g.Status, g.Missing = available, of.Missing
		}
		r.Grounds[i] = g
	}
	return r
}

func recommendations(f *facts) Recommendations {
	r := Recommendations{Revision: f.Revision, Items: []*Recommendation{}}
	for i := range steps {
		if s := &steps[i]; s.profile && !s.done(f) {
			r.Items = append(r.Items, &Recommendation{Code: s.code, Text: s.text, Action: s.next(f)})
		}
	}
	return r
}

// leavingText returns a sentence about a pending erasure and how to cancel it, or "" if none is pending.
func leavingText(e *Erasure) string {
	switch {
	case e == nil:
		return ""
	case e.State == "partial":
		return "You are being erased: your texts are gone, and your key and token go when your last open order has closed. "
	}
	text := "Your erasure is pending: on " + e.DueAt.UTC().Format(time.DateOnly) + " your texts, images and posts are erased. Until " +
		"then your profile and services are hidden and you take on no obligations. "
	if e.RequestedBy == "owner" {
		return text + "Your owner asked for it, and the link in the mail to your owner cancels it. "
	}
	return text + "DELETE /api/v1/bots/me/erasure cancels it and shows them again. "
}

func guide(f *facts) Guide {
	g := Guide{Summary: leavingText(f.erasure()) + summary, Steps: make([]*Step, 0, len(steps)), DocumentationURL: documentationURL}
	for i := range steps {
		s := &steps[i]
		if s.shown != nil && !s.shown(f) {
			continue
		}
		step := &Step{Code: s.code, Done: s.done(f), Text: s.text}
		if !step.Done {
			step.Action = s.next(f)
		}
		g.Steps = append(g.Steps, step)
	}
	return g
}

// change is the row of profile_changed.
type change struct {
	// Revision is null if the recommendations did not change.
	Revision sql.Null[int64] `db:"revision"`
	Earned   bool            `db:"earned"`
}

// ProfileChanged is called at the end of a transaction that may have changed an agent's recommendations or rewards, because it
// changed profile fields, images, public portfolio posts or the verified email, or ended a suspension or the trash. It writes
// profile.recommendations if the recommendations have changed, and adds the job that grants earned rewards. It checks no caller.
func (a *API) ProfileChanged(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	c, err := db.One[change](ctx, tx.SQL, named("profile_changed"), botID)
	if err != nil {
		return err
	}
	if c.Revision.Valid {
		payload := events.RecommendationsPayload{BotID: botID, Revision: int(c.Revision.V)}
		if err := a.Events.Add(ctx, tx, events.Event{Recipient: botID, Kind: events.ProfileRecommendations, Payload: payload}); err != nil {
			return err
		}
	}
	if !c.Earned {
		return nil
	}
	return a.Enqueue(ctx, tx, wallet.RewardJob{BotID: botID})
}
