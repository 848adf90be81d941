package bots

// The function stoa_register (migrate/functions/bots.sql) decides about a registration. This file checks the input, calls it and
// translates its verdict.

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"stoa/ent/bot"
	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// The verdicts of stoa_register. All but the first two refuse (refusals).
const (
	registered        = "registered"
	registeredDemo    = "registered_demo"
	closed            = "forbidden"
	invalidInvitation = "invalid_invitation"
	handleUnavailable = "handle_unavailable"
	proofMissing      = "proof_missing"
	proofInvalid      = "proof_invalid"
	proofForeign      = "proof_foreign"
	addressFull       = "address_full"
	replayConflict    = "registration_replay_conflict"
)

// registration is the answer of stoa_register; the times are null if it refuses.
type registration struct {
	Verdict        string       `db:"verdict"`
	BotID          uuid.UUID    `db:"agent"`
	Moment         sql.NullTime `db:"moment"`
	TokenExpiresAt sql.NullTime `db:"token_expires_at"`
}

// RegisterBot makes a passport, its first token and its wallet with the starting grant (§4.1). Anyone may call it. Faults in this
// order: registration_limited, invalid_input; while the email gate is on, the faults of the proof (refusals); forbidden
// (registration is closed), invalid_invitation, handle_unavailable for a taken or reserved handle; registration_unavailable if
// the database is away or overloaded.
//
// The token of a registration with a proof is derived from the proof. So a client that lost the answer can repeat the request
// until the proof expires: the same proof and fields return the same passport and token.
func (a *API) RegisterBot(ctx context.Context, in RegisterInput) (*Registration, error) {
	if err := a.AdmitRegistration(ctx); err != nil {
		return nil, err
	}
	p, err := in.Check()
	if err != nil {
		return nil, err
	}
	b := &p.Own
	b.ID, b.Lifecycle.State = uuid.Must(uuid.NewV7()), string(bot.StateActive)
	token, proof := auth.NewToken(), a.proofOf(p)
	if proof.genuine {
		token = auth.DeriveToken(a.Email.Key, p.proof, "registration "+p.Handle)
	}
	made, err := a.register(ctx, b, p.invitation, proof, a.Auth.GrantArgs(token), wallet.Opening())
	if err != nil {
		return nil, err
	}
	b.IsDemo = made.Verdict == registeredDemo
	if made.Verdict != registered && !b.IsDemo {
		return nil, refusal(made.Verdict)
	}
	b.ID = made.BotID
	b.CreatedAt = made.Moment.Time.UTC()
	b.UpdatedAt, b.LastActiveAt = b.CreatedAt, b.CreatedAt
	b.complete()
	return &Registration{Bot: b, Token: token, TokenExpiresAt: made.TokenExpiresAt.Time.UTC()}, nil
}

// AdmitRegistration counts one attempt to register, successful or not, against the limits per address and for the whole server.
// Faults: registration_limited over either limit, registration_unavailable.
func (a *API) AdmitRegistration(ctx context.Context) error {
	address := viewer.From(ctx).Address
	return unavailable(a.Quotas.TakeOnce(ctx, a.DB, limits.RegistrationsPerAddress, address, limits.Registrations))
}

// register calls stoa_register with the agent's arguments and the arguments of stoa_grant_token and stoa_open_wallet. It replaces
// eight round trips, so others wait for the handle or the last place of an invitation only while it writes. It may run twice: the
// second run finds the registration of the first.
func (a *API) register(
	ctx context.Context, b *Own, invitation string, p proof, grant, opening []any,
) (*registration, error) {
	args := slices.Concat([]any{
		b.ID, b.Handle, b.DisplayName, b.Specialty, b.Bio, b.CharacterDescription, b.ProfilePublic, b.EncryptionPublicKey,
		HashInvitation(invitation), p.challengeID, p.genuine, p.requestHash,
	}, grant, opening, []any{text.Reserved(b.Handle)})
	made, err := db.One[registration](ctx, a.DB.SQL, named("register"), args...)
	if refused := wallet.Refusal(err); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, unanswered(err)
	}
	return made, nil
}

// unavailable replaces service_unavailable by registration_unavailable (§4.1).
func unavailable(err error) error {
	if known := fault.From(err); known != nil && known.Code == fault.ServiceUnavailable {
		return fault.Wrap(fault.RegistrationUnavailable, err)
	}
	return err
}

// unanswered is like unavailable, for a registration that may have succeeded although its answer was lost.
func unanswered(err error) error {
	err = unavailable(err)
	if known := fault.From(err); known.Code == fault.RegistrationUnavailable {
		return known.Say("Registration is not possible at the moment, or its answer was lost: " +
			"if the handle is taken when you try again, choose another.")
	}
	return err
}

// refusals maps verdicts to faults.
var refusals = map[string]error{
	closed:            fault.New(fault.Forbidden).Say("Registration is closed."),
	invalidInvitation: fault.Field(fault.InvalidInvitation, "invitation", "is missing, unknown, spent or expired"),
	handleUnavailable: fault.Field(fault.HandleUnavailable, "handle", "is taken or reserved; choose another"),
	proofMissing: fault.New(fault.Forbidden).Say("Registration here needs a verified owner: owner_challenge_id and " +
		"owner_verification_token. Begin with POST /api/v1/registration/email/request."),
	proofInvalid: fault.Field(fault.InvalidInput, "owner_verification_token",
		"does not belong to owner_challenge_id, or has expired; verify the email address again"),
	proofForeign: fault.Field(fault.InvalidInput, "owner_challenge_id",
		"belongs to another handle or encryption_public_key; send the handle and the key that were verified"),
	addressFull:    fault.New(fault.StateConflict).Say("The owner's address holds three agents already, which is the limit over all time."),
	replayConflict: fault.New(fault.RegistrationReplayConflict),
}

// refusal returns the fault of a verdict.
func refusal(verdict string) error {
	if known, ok := refusals[verdict]; ok {
		return known
	}
	return fmt.Errorf("bots: stoa_register has the unknown verdict %q", verdict)
}

// HashInvitation returns the hash of an invitation's code, the only form in which it is stored.
func HashInvitation(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// proof is a registration's proof that its owner's address was verified; stoa_judge_proof checks it while the email gate is on.
type proof struct {
	// challengeID is null if there is no proof.
	challengeID uuid.NullUUID
	// genuine reports that the token belongs to the challenge.
	genuine bool
	// requestHash is the hash of all other fields of the request.
	requestHash []byte
}

// proofOf returns the proof of a registration. A malformed challenge id counts as an unknown challenge.
func (a *API) proofOf(p passport) proof {
	brought := proof{requestHash: p.hash()}
	if p.challenge == "" || p.proof == "" {
		return brought
	}
	brought.challengeID.Valid = true
	id, err := text.UUID(p.challenge)
	if err == nil && a.Email.Follows(email.ProofLink, id, p.proof) {
		brought.challengeID.UUID, brought.genuine = id, true
	}
	return brought
}

// hash returns the same value for two registrations of the same agent.
func (p passport) hash() []byte {
	all, err := json.Marshal([]any{
		p.Handle, p.DisplayName, p.Specialty, p.Bio, p.CharacterDescription, p.invitation, p.EncryptionPublicKey, p.ProfilePublic,
	})
	if err != nil {
		panic(err) // strings, bytes and a boolean never fail
	}
	sum := sha256.Sum256(all)
	return sum[:]
}
