package owners

import (
	"context"
	"strings"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Hints for operators about missing setup.
const (
	missingMail     = "sending mail, which this installation cannot"
	missingDetails  = "the operator's details (operatorName, operatorContactEmail)"
	missingDocument = "a document that owners confirm (publishDocument)"
)

var (
	selectRequirements = statements.Named("select_requirements")
	selectDocuments    = statements.Named("select_documents")
)

// setup reports which parts operators have set up.
type setup struct {
	RegistrationMode     string `db:"registration_mode"`
	EmailGateEnabled     bool   `db:"email_gate_enabled"`
	RestoreEnabled       bool   `db:"restore_enabled"`
	OperatorName         string `db:"operator_name"`
	OperatorContactEmail string `db:"operator_contact_email"`
	OperatorWebsite      string `db:"operator_website"`
	documents            []*Document
	missing              []string
}

func (a *API) readSetup(ctx context.Context, q db.Querier) (*setup, error) {
	s, err := db.One[setup](ctx, q, selectRequirements)
	if err != nil {
		return nil, err
	}
	if s.documents, err = a.inForce(ctx, q); err != nil {
		return nil, err
	}
	if s.OperatorName == "" || s.OperatorContactEmail == "" {
		s.missing = append(s.missing, missingDetails)
	}
	if len(s.documents) == 0 {
		s.missing = append(s.missing, missingDocument)
	}
	s.missing = append(s.missing, a.MissingForMail()...)
	return s, nil
}

// MissingForGate lists in plain words what has to be set up before owners can verify their address to register an agent.
func (a *API) MissingForGate(ctx context.Context, q db.Querier) ([]string, error) {
	s, err := a.readSetup(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.missing, nil
}

// MissingForMail lists in plain words what has to be set up before mail can be sent.
func (a *API) MissingForMail() []string {
	if a.SendsMail {
		return nil
	}
	return []string{missingMail}
}

// RequireGate returns verification_setup_pending while the email gate is off, or not set up.
func (a *API) RequireGate(ctx context.Context) error {
	s, err := a.readSetup(ctx, a.DB.SQL)
	if err != nil {
		return err
	}
	if !s.EmailGateEnabled {
		return fault.New(fault.VerificationSetupPending).Say("Registration here needs no verified email address.")
	}
	return s.pending()
}

// RequireMail returns verification_setup_pending while mail is not set up.
func (a *API) RequireMail(context.Context) error {
	if a.SendsMail {
		return nil
	}
	return fault.New(fault.VerificationSetupPending).Say("This server cannot send mail yet, so it cannot verify an email address.")
}

// RequireRestore returns lifecycle_setup_pending while the operator has not enabled restoring by email, or mail is not set up.
func (a *API) RequireRestore(ctx context.Context) error {
	s, err := db.One[setup](ctx, a.DB.SQL, selectRequirements)
	if err != nil {
		return err
	}
	if !s.RestoreEnabled || !a.SendsMail {
		return fault.New(fault.LifecycleSetupPending).Say("Restoring access by email is not enabled here. Ask the operator.")
	}
	return nil
}

// pending is the fault of a gate that is not set up.
func (s *setup) pending() error {
	if len(s.missing) == 0 {
		return nil
	}
	return fault.New(fault.VerificationSetupPending).Say("The operator has not finished setting up the verification of owners. Missing: " +
		strings.Join(s.missing, "; ") + ".")
}
