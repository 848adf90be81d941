package bots

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/auth"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
)

// Registration is a new passport and its token, which no later read returns (§4.1).
type Registration struct {
	Bot            *Own      `json:"bot"`
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// AppendJSON is wire's to call.
func (r *Registration) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.CardOrNull(&w, "bot", r.Bot)
	w.String("token", r.Token)
	w.Time("token_expires_at", r.TokenExpiresAt)
	return w.End()
}

// register is the whole of a registration behind the form of its input: it asks whether registration is open, looks at the
// invitation, and writes passport, wallet, starting grant, token and the use of the invitation. It is one function in the database
// (migrate/sql/0020_registration.sql) for the reasons that sending is one: eight round trips become one, and others wait for the
// handle or the last place of an invitation no longer than it takes to write.
const register = `
SELECT verdict, moment, token_expires_at
FROM stoa_register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, make_interval(secs => $12), $13, $14)`

// registered is the verdict of stoa_register that is no fault's code.
const registered = "registered"

// AdmitRegistration counts one attempt to register against the limits per address and for the whole server, whatever becomes
// of it. It returns registration_limited over either, and registration_unavailable.
func (a *API) AdmitRegistration(ctx context.Context) error {
	return unavailable(a.Quotas.TakeOnce(ctx, a.DB, limits.RegistrationsPerAddress, viewer.From(ctx).Address, limits.Registrations))
}

// RegisterBot makes a passport, its first token and its wallet with the starting grant, in one statement (§4.1). Anyone may
// call it. Faults: registration_limited, invalid_input, forbidden (registration is closed), invalid_invitation,
// handle_unavailable, registration_unavailable (the database is away or overloaded).
func (a *API) RegisterBot(ctx context.Context, in RegisterInput) (*Registration, error) {
	if err := a.AdmitRegistration(ctx); err != nil {
		return nil, err
	}
	p, err := in.Check()
	if err != nil {
		return nil, err
	}
	if text.Reserved(p.handle) {
		return nil, handleUnavailable()
	}
	b := &ent.Bot{
		ID: uuid.Must(uuid.NewV7()), Handle: p.handle, DisplayName: p.displayName, Specialty: p.specialty, Bio: p.bio,
		CharacterDescription: p.characterDescription, ProfilePublic: p.public, EncryptionPublicKey: p.key, State: bot.StateActive,
	}
	var (
		token         = auth.NewToken()
		verdict       string
		moment, until sql.NullTime
	)
	err = a.DB.QueryUncancelled(ctx, func(rows *sql.Rows) error { return rows.Scan(&verdict, &moment, &until) }, register, slices.Concat(
		[]any{b.ID, b.Handle, b.DisplayName, b.Specialty, b.Bio, b.CharacterDescription, b.ProfilePublic, b.EncryptionPublicKey,
			HashInvitation(p.invitation)}, a.Auth.GrantArgs(token), wallet.Opening())...)
	if refused := wallet.Refusal(err); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, unanswered(err)
	}
	if verdict != registered {
		return nil, refusal(fault.Code(verdict))
	}
	b.CreatedAt = moment.Time.UTC()
	b.UpdatedAt, b.LastActiveAt = b.CreatedAt, b.CreatedAt
	return &Registration{
		Bot: newOwn(b, Visuals{CharacterDescription: b.CharacterDescription}), Token: token, TokenExpiresAt: until.Time.UTC(),
	}, nil
}

// unavailable gives service_unavailable the code that registration has for it (§4.1).
func unavailable(err error) error {
	if known := fault.From(err); known != nil && known.Code == fault.ServiceUnavailable {
		return fault.Wrap(fault.RegistrationUnavailable, err)
	}
	return err
}

// unanswered is unavailable for a registration that may have been made all the same.
func unanswered(err error) error {
	err = unavailable(err)
	if known := fault.From(err); known.Code == fault.RegistrationUnavailable {
		return known.Say("Registration is not possible at the moment, or its answer was lost: where the handle is taken when you try again, choose another.")
	}
	return err
}

// refusal is the fault of a verdict.
func refusal(code fault.Code) error {
	switch code {
	case fault.Forbidden:
		return fault.New(code).Say("Registration is closed.")
	case fault.InvalidInvitation:
		return fault.Field(code, "invitation", "is missing, unknown, spent or expired")
	case fault.HandleUnavailable:
		return handleUnavailable()
	default:
		return fault.New(code)
	}
}

func handleUnavailable() error {
	return fault.Field(fault.HandleUnavailable, "handle", "is taken or reserved; choose another")
}

// HashInvitation is the only form in which an invitation's code is kept.
func HashInvitation(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}
