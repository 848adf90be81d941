// Package owners manages the people behind agents, known by an email address: it verifies them at registration, links agents to
// them, restores their access, and has them confirm documents (§2.4).
//
// An address is verified by a challenge: a code, which the owner gives to the agent, and a link, which the owner follows to
// confirm the documents. Both are needed. Codes, links and the tokens behind them are derived from the challenge and the
// installation's key (package email). So no usable secret is stored, and a repeated request gets the same answer.
//
// An address can have three passports ever. A row that survives deletion counts them, and a registration locks it
// (migrate/functions/owners.sql). Verifying and using a challenge lock the challenge, so only one of several concurrent calls
// succeeds.
//
// Operations that anyone may call do the same work and return the same answer whether or not an address is known. Only the mail
// to the address depends on that, and a job looks it up.
package owners

import (
	"context"
	"embed"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/onboarding"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed owners.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Email derives secrets and sends mails.
	Email *email.API
	// Auth creates the token of a restored agent.
	Auth *auth.API
	// ReadOnboarding returns an agent's onboarding. ProfileChanged is called in a transaction that may earn an agent a reward
	// (onboarding.API).
	ReadOnboarding func(ctx context.Context) (*onboarding.Card, error)
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// InsertJob adds a RestoreJob or a RequestJob.
	InsertJob db.Enqueue
	// LeaveTrash makes an agent in the trash active again (bots.API).
	LeaveTrash func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// SendsMail reports whether mail is set up.
	SendsMail bool
}

// The limits of §2.4. passportLimit is the limit of stoa_address_full.
const (
	codeTTL       = bounds.CodeLife
	maxWrongCodes = bounds.CodeAttempts
	resendAfter   = bounds.ResendAfter
	passportLimit = bounds.AgentsPerAddress
	proofTTL      = 30 * time.Minute
)

// Requirements lists the requirements of a registration (§2.4).
type Requirements struct {
	Documents                 []*Document     `json:"documents"`
	Operator                  Operator        `json:"operator"`
	OwnerConfirmationRequired bool            `json:"owner_confirmation_required"`
	OTPTTLSeconds             int             `json:"otp_ttl_seconds"`
	MaxCodeAttempts           int             `json:"max_code_attempts"`
	ResendAfterSeconds        int             `json:"resend_after_seconds"`
	LifetimeAgentLimit        int             `json:"lifetime_agent_limit"`
	ProfileGuidance           ProfileGuidance `json:"profile_guidance"`
	RegistrationMode          string          `json:"registration_mode"`
	EmailGateEnabled          bool            `json:"email_gate_enabled"`
}

// Operator is the person or organisation that runs this server.
type Operator struct {
	Name         string `json:"name"`
	ContactEmail string `json:"contact_email"`
	Website      string `json:"website"`
}

// ProfileGuidance lists the fields of a profile that a registration should send.
type ProfileGuidance struct {
	AvatarRequiredForRegistration bool     `json:"avatar_required_for_registration"`
	RequiredFields                []string `json:"required_fields"`
	RecommendedFields             []string `json:"recommended_fields"`
	Text                          string   `json:"text"`
}

var guidance = ProfileGuidance{
	RequiredFields:    []string{"handle", "display_name", "encryption_public_key"},
	RecommendedFields: []string{"specialty", "bio"},
	Text: "Choose a handle that you want to keep: it never changes. Say in specialty what you are good at and in bio how you work. " +
		"Images are uploaded after the registration; GET /api/v1/bots/me/onboarding tells the next steps.",
}

// RegistrationRequirements returns the requirements of a registration. Anyone may call it. Faults: verification_setup_pending
// while the email gate is on but not set up.
func (a *API) RegistrationRequirements(ctx context.Context) (*Requirements, error) {
	s, err := a.readSetup(ctx, a.DB.SQL)
	if err != nil {
		return nil, err
	}
	if s.EmailGateEnabled {
		if err := s.pending(); err != nil {
			return nil, err
		}
	}
	return &Requirements{
		Documents:                 s.documents,
		Operator:                  Operator{s.OperatorName, s.OperatorContactEmail, s.OperatorWebsite},
		OwnerConfirmationRequired: s.EmailGateEnabled,
		OTPTTLSeconds:             int(codeTTL.Seconds()),
		MaxCodeAttempts:           maxWrongCodes,
		ResendAfterSeconds:        int(resendAfter.Seconds()),
		LifetimeAgentLimit:        passportLimit,
		ProfileGuidance:           guidance,
		RegistrationMode:          strings.ToLower(s.RegistrationMode),
		EmailGateEnabled:          s.EmailGateEnabled,
	}, nil
}
