package owners

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Hints for operators about missing setup.
const (
	missingMail     = "sending mail, which this installation cannot"
	missingDetails  = "the operator's name and contact address"
	missingDocument = "a document that owners confirm, in force"
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
	s, err := db.One[setup](ctx, q, named("select_requirements"))
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

// MissingForGate describes the missing setup without which owners cannot verify their address to register an agent.
func (a *API) MissingForGate(ctx context.Context, q db.Querier) ([]string, error) {
	s, err := a.readSetup(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.missing, nil
}

// MissingForMail describes the missing setup without which no mail can be sent.
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
	s, err := db.One[setup](ctx, a.DB.SQL, named("select_requirements"))
	if err != nil {
		return err
	}
	if !s.RestoreEnabled || !a.SendsMail {
		return fault.New(fault.LifecycleSetupPending).Say("Restoring access by email is not enabled here. Ask the operator.")
	}
	return nil
}

// pending returns the fault of a gate that is not set up.
func (s *setup) pending() error {
	if len(s.missing) == 0 {
		return nil
	}
	return fault.New(fault.VerificationSetupPending).Say("The operator has not finished setting up the verification of owners. Missing: " +
		strings.Join(s.missing, "; ") + ".")
}

// DocumentPage is the path of a document's page, without the document's id.
const DocumentPage = "/owner/documents/"

// Document is a version of a text that owners confirm (§2.4).
type Document struct {
	ID      uuid.UUID `json:"id" db:"id"`
	Title   string    `json:"title" db:"title"`
	Version string    `json:"version" db:"version"`
	// URL is the address of the document: the operator's own, or its page on this server.
	URL string `json:"url" db:"url"`
	// SHA256 is the hash of the text, in lower-case hexadecimal.
	SHA256 string `json:"sha256" db:"sha256"`
}

// inForce returns the documents that owners confirm now.
func (a *API) inForce(ctx context.Context, q db.Querier) ([]*Document, error) {
	documents, err := db.All[Document](ctx, q, named("select_documents"))
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		if d.URL == "" {
			d.URL = a.Email.Origin + DocumentPage + d.ID.String()
		}
	}
	if documents == nil {
		documents = []*Document{}
	}
	return documents, nil
}

// DocumentText is a version of a document with its text.
type DocumentText struct {
	Document
	Text string `db:"text"`
	// Withdrawn reports that the version is no longer in force.
	Withdrawn bool `db:"withdrawn"`
}

// ReadDocument returns a version of a document, in force or withdrawn. Anyone may call it. Faults: not_found.
func (a *API) ReadDocument(ctx context.Context, id uuid.UUID) (*DocumentText, error) {
	return db.One[DocumentText](ctx, a.DB.SQL, named("select_document"), id)
}
