package bots

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/invitation"
	"stoa/ent/setting"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/text"
	"stoa/graph/viewer"
	"stoa/graph/wallet"
)

// Registration is a new passport and its token, which no later read returns (§4.1).
type Registration struct {
	Bot            *Own      `json:"bot"`
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// AdmitRegistration counts one attempt to register against the limits per address and for the whole server, whatever becomes
// of it. It returns registration_limited over either, and registration_unavailable.
func (a *API) AdmitRegistration(ctx context.Context) error {
	if err := a.Quotas.TakeOnce(ctx, a.DB.SQL, limits.RegistrationsPerAddress, viewer.From(ctx).Address); err != nil {
		return unavailable(err)
	}
	return unavailable(a.Quotas.TakeOnce(ctx, a.DB.SQL, limits.Registrations, ""))
}

// RegisterBot makes a passport, its first token and its wallet with the starting grant, in one transaction (§4.1). Anyone may
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
	var made *Registration
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := a.spendInvitation(ctx, tx, p.invitation); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		bot, err := tx.Ent.Bot.Create().SetHandle(p.handle).SetDisplayName(p.displayName).SetSpecialty(p.specialty).SetBio(p.bio).
			SetCharacterDescription(p.characterDescription).SetProfilePublic(p.public).SetEncryptionPublicKey(p.key).
			SetCreatedAt(now).SetUpdatedAt(now).SetLastActiveAt(now).Save(ctx)
		if db.Violates(err, "bots_handle_key") {
			return handleUnavailable()
		}
		if err != nil {
			return err
		}
		if err := wallet.Open(ctx, tx, bot.ID); err != nil {
			return err
		}
		granted, err := a.grantToken(ctx, tx, bot.ID)
		if err != nil {
			return err
		}
		made = &Registration{Bot: newOwn(bot, Visuals{CharacterDescription: bot.CharacterDescription}), Token: granted.Token, TokenExpiresAt: granted.TokenExpiresAt}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return made, nil
}

// unavailable gives service_unavailable the code that registration has for it (§4.1).
func unavailable(err error) error {
	if known := fault.From(err); known != nil && known.Code == fault.ServiceUnavailable {
		return fault.Wrap(fault.RegistrationUnavailable, err).Say(known.Message)
	}
	return err
}

func handleUnavailable() error {
	return fault.Field(fault.HandleUnavailable, "handle", "is taken or reserved; choose another")
}

// spendInvitation applies the registration mode: it refuses while registration is closed and uses up one place of a valid
// invitation while it is by invitation.
func (a *API) spendInvitation(ctx context.Context, tx *db.Tx, code string) error {
	settings, err := tx.Ent.Setting.Query().Only(ctx)
	if err != nil {
		return err
	}
	switch settings.RegistrationMode {
	case setting.RegistrationModeClosed:
		return fault.New(fault.Forbidden).Say("Registration is closed.")
	case setting.RegistrationModeInvitation:
		return useInvitation(ctx, tx, code)
	default:
		return nil
	}
}

func useInvitation(ctx context.Context, tx *db.Tx, code string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	found, err := tx.Ent.Invitation.Query().Where(invitation.CodeHash(HashInvitation(code))).ForUpdate().Only(ctx)
	if ent.IsNotFound(err) {
		return fault.Field(fault.InvalidInvitation, "invitation", "is missing, unknown, spent or expired")
	}
	if err != nil {
		return err
	}
	if found.RevokedAt != nil || found.Used >= found.Uses || (found.ExpiresAt != nil && !found.ExpiresAt.After(now)) {
		return fault.Field(fault.InvalidInvitation, "invitation", "is missing, unknown, spent or expired")
	}
	return tx.Ent.Invitation.UpdateOne(found).AddUsed(1).Exec(ctx)
}

// HashInvitation is the only form in which an invitation's code is kept.
func HashInvitation(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// grantToken makes a live token for an agent.
func (a *API) grantToken(ctx context.Context, tx *db.Tx, botID uuid.UUID) (*TokenGrant, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	granted := &TokenGrant{Token: newToken(), TokenExpiresAt: a.expiry(now)}
	err = tx.Ent.Token.Create().SetBotID(botID).SetHash(hashToken(granted.Token)).SetCreatedAt(now).
		SetExpiresAt(granted.TokenExpiresAt).Exec(ctx)
	if err != nil {
		return nil, err
	}
	return granted, nil
}
