package operator

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// CreateInvitation makes an invitation (§2.1). Faults: invalid_input.
func (a *API) CreateInvitation(ctx context.Context, in InvitationInput, reason string) (*NewInvitation, error) {
	uses, kept, wrong := in.check()
	id, code := uuid.Must(uuid.NewV7()), newCode()
	details := map[string]any{"uses": uses, "note": kept}
	setIfSent(details, "expiresAt", in.ExpiresAt)
	setIfSent(details, "isDemo", in.IsDemo)
	e := entry{createInvitation, id.String(), reason, details, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*NewInvitation, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		if in.ExpiresAt != nil && !in.ExpiresAt.After(now) {
			return nil, fault.Field(fault.InvalidInput, "expiresAt", "must lie in the future")
		}
		made, err := tx.Ent.Invitation.Create().SetID(id).SetCodeHash(bots.HashInvitation(code)).SetUses(uses).SetNote(kept).
			SetNillableExpiresAt(in.ExpiresAt).SetNillableIsDemo(in.IsDemo).SetCreatedAt(now).Save(ctx)
		if err != nil {
			return nil, err
		}
		return &NewInvitation{Invitation: made, Code: code}, nil
	})
}

// RevokeInvitation ends an invitation. A repeat keeps the first time. Faults: not_found.
func (a *API) RevokeInvitation(ctx context.Context, id uuid.UUID, reason string) (*ent.Invitation, error) {
	e := entry{revokeInvitation, id.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Invitation, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		found, err := tx.Ent.Invitation.Get(ctx, id)
		if err != nil || found.RevokedAt != nil {
			return found, err
		}
		return found.Update().SetRevokedAt(now).Save(ctx)
	})
}

// newCode makes an invitation's code: 130 random bits in five groups of letters and digits that are easy to read out.
func newCode() string {
	const group = 5
	letters := rand.Text()
	var groups []string
	for len(letters) >= 2*group {
		groups = append(groups, letters[:group])
		letters = letters[group:]
	}
	return strings.Join(append(groups, letters), "-")
}
