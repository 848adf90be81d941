package owners

import (
	"context"
	"strings"
	"time"

	"stoa/graph/platform/bounds"
)

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

// Operator is who runs this server.
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
