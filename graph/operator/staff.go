package operator

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

const (
	// NameHeader may name the person behind the installation's token, for the audit log. The name is not proven.
	NameHeader = "X-Stoa-Operator"
	// RefreshHeader marks the request of an open page that refreshes itself. It does not show that the operator is present.
	RefreshHeader = "X-Stoa-Refresh"
	// DefaultName is the operator's name if the installation's token comes without a name.
	DefaultName = "operator"
	// MaxName is the length of an operator's name in characters. At most operatorsMost operators are listed.
	MaxName, operatorsMost = 80, 100
	// An own token is ownTokenPrefix and the 26 characters of 130 random bits.
	ownTokenPrefix = "stoa_operator_"
	ownTokenLength = len(ownTokenPrefix) + 26
)

// Operators lists the people who have or had an own token, by name. Faults: unauthorized.
func (a *API) Operators(ctx context.Context) ([]*Operator, error) {
	return read[Operator](ctx, a, named("list_operators"), operatorsMost)
}

// InviteOperator makes an operator's own token and shows it once. Faults: invalid_input, also for a name with a token or like the
// name of another operator.
func (a *API) InviteOperator(ctx context.Context, name, reason string) (*NewOperator, error) {
	wrong := fault.Fields{}
	name, err := text.Line(name, 1, MaxName)
	if err == nil && text.SameLook(name, DefaultName) {
		err = errors.New("must not look like operator, which the token of the installation stands for")
	}
	wrong.Add("name", err)
	e := entry{inviteOperator, name, reason, map[string]any{"name": name}, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*NewOperator, error) {
		alike, err := lookalikes(ctx, tx.SQL, name)
		for _, other := range alike {
			if err == nil && !strings.EqualFold(other, name) {
				err = fault.Field(fault.InvalidInput, "name", "looks like the operator's name "+other)
			}
		}
		if err != nil {
			return nil, err
		}
		token := ownTokenPrefix + rand.Text()
		made, err := db.Find[Operator](ctx, tx.SQL, named("invite_operator"), name, auth.HashToken(token), viewer.From(ctx).Name)
		if err != nil {
			return nil, err
		}
		if made == nil {
			return nil, fault.Field(fault.InvalidInput, "name", "belongs to an operator with a token: revoke that first")
		}
		return &NewOperator{Operator: made, Token: token}, nil
	})
}

// lookalikes returns the names of operators, even revoked ones, that look like a name.
func lookalikes(ctx context.Context, q db.Querier, name string) ([]string, error) {
	names, err := db.Column[string](ctx, q, named("operator_names"))
	return slices.DeleteFunc(names, func(other string) bool { return !text.SameLook(other, name) }), err
}

// RevokeOperator ends the token of an operator, and with it the operator's sessions. A repeat keeps the first time. Faults: not_found.
func (a *API) RevokeOperator(ctx context.Context, name, reason string) (*Operator, error) {
	e := entry{revokeOperator, name, reason, map[string]any{"name": name}, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*Operator, error) {
		return db.One[Operator](ctx, tx.SQL, named("revoke_operator"), strings.ToValidUTF8(name, "�"))
	})
}

// OwnToken returns the hash of a text with the form of an operator's own token; empty for any other text.
func OwnToken(sent string) string {
	if len(sent) != ownTokenLength || !strings.HasPrefix(sent, ownTokenPrefix) {
		return ""
	}
	return string(auth.HashToken(sent))
}

// Recognize returns the operator of an own token, by its hash, and records that the operator is present. session is SignOuts of
// the viewer that opened the session of the request; nil without one. Anyone may call it. Faults: unauthorized, also for a session
// from before the operator signed out.
func (a *API) Recognize(ctx context.Context, ownToken string, session *int, present bool) (viewer.Viewer, error) {
	found, err := db.Find[struct {
		Name     string
		SignOuts int
	}](ctx, a.DB.SQL, named("recognize_operator"), []byte(ownToken), session, present)
	if err == nil && found == nil {
		err = fault.New(fault.Unauthorized)
	}
	if err != nil {
		return viewer.Viewer{}, err
	}
	return viewer.Viewer{Kind: viewer.Operator, Name: found.Name, OwnToken: ownToken, SignOuts: found.SignOuts}, nil
}

// Leave records that the operator of an own token has signed out, which ends the sessions of that token. The next shift begins at
// this time. Anyone may call it.
func (a *API) Leave(ctx context.Context, ownToken string) error {
	_, err := db.Column[string](ctx, a.DB.SQL, named("leave_shift"), []byte(ownToken))
	return err
}

// Named returns the operator with the installation's token under an unproven name. Anyone may call it. Faults: invalid_input if
// the name is not one line of up to MaxName characters, forbidden if it looks like the name of an operator who has or had a token.
func (a *API) Named(ctx context.Context, name string) (viewer.Viewer, error) {
	v := viewer.Viewer{Kind: viewer.Operator, Name: DefaultName}
	if name == "" {
		return v, nil
	}
	var err error
	if v.Name, err = text.Line(name, 1, MaxName); err != nil {
		return v, fault.Field(fault.InvalidInput, NameHeader, err.Error())
	}
	alike, err := lookalikes(ctx, a.DB.SQL, v.Name)
	if err == nil && len(alike) > 0 {
		err = fault.New(fault.Forbidden).Say("An operator of this name has or had a token: sign in with that, or give another name.")
	}
	return v, err
}

const (
	// deedsMost is the maximum number of operators' actions that a shift shows, from the newest deedsDeep audit entries.
	deedsMost, deedsDeep = 100, 10_000
	// happenedMost bounds the counts of each kind.
	happenedMost = 10_000
)

// Shift shows events since a time, the operators' actions, and the state of the service. Without a time it begins when the caller
// left, or 12 hours ago. Its reads use indexes and are bounded. Faults: unauthorized.
func (a *API) Shift(ctx context.Context, since *time.Time) (*Shift, error) {
	r := a.reads(ctx)
	begun := table[Shift](ctx, r, named("begin_shift"), since, []byte(viewer.From(ctx).OwnToken))
	if r.err != nil {
		return nil, r.err
	}
	s := begun[0]
	s.Happened = table[Tally](ctx, r, named("count_happened"), s.Since, happenedMost)
	s.Done = table[Deed](ctx, r, named("list_deeds"), s.Since, deedsDeep, deedsMost)
	s.Notes = table[Note](ctx, r, named("list_notes"), s.Since, deedsDeep, deedsMost)
	s.Jobs = table[FailingJobs](ctx, r, named("list_failing_jobs"), s.Since, happenedMost)
	s.Attention, _ = r.attention(ctx)
	s.Backup = part(r, func() (*Backup, error) { return a.LastBackup(ctx) })
	s.KeyLog = &KeyLogState{}
	for _, figure := range part(r, func() ([]metrics.Value, error) { return a.Keys.Metrics(ctx) }) {
		switch figure.Name {
		case "stoa_log_entries":
			s.KeyLog.Entries = int64(figure.Value)
		case "stoa_log_waiting":
			s.KeyLog.Waiting = int64(figure.Value)
		case "stoa_log_behind":
			s.KeyLog.Signing = figure.Value == 0
		}
	}
	return s, r.err
}

// CreateInvitation makes an invitation (§2.1). Faults: invalid_input.
func (a *API) CreateInvitation(ctx context.Context, in InvitationInput, reason string) (*NewInvitation, error) {
	uses, kept, wrong := in.check()
	id, code := uuid.Must(uuid.NewV7()), newCode()
	details := map[string]any{"uses": uses, "note": kept}
	setIfSent(details, "expiresAt", in.ExpiresAt)
	setIfSent(details, "isDemo", in.IsDemo)
	e := entry{createInvitation, id.String(), reason, details, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*NewInvitation, error) {
		if in.ExpiresAt != nil && !in.ExpiresAt.After(tx.now) {
			return nil, fault.Field(fault.InvalidInput, "expiresAt", "must lie in the future")
		}
		made, err := tx.Ent.Invitation.Create().SetID(id).SetCodeHash(bots.HashInvitation(code)).SetUses(uses).SetNote(kept).
			SetNillableExpiresAt(in.ExpiresAt).SetNillableIsDemo(in.IsDemo).SetCreatedAt(tx.now).Save(ctx)
		if err != nil {
			return nil, err
		}
		return &NewInvitation{Invitation: made, Code: code}, nil
	})
}

// RevokeInvitation ends an invitation. A repeat keeps the first time. Faults: not_found.
func (a *API) RevokeInvitation(ctx context.Context, id uuid.UUID, reason string) (*ent.Invitation, error) {
	e := entry{revokeInvitation, id.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Invitation, error) {
		found, err := tx.Ent.Invitation.Get(ctx, id)
		if err != nil || found.RevokedAt != nil {
			return found, err
		}
		return found.Update().SetRevokedAt(tx.now).Save(ctx)
	})
}

// newCode makes an invitation's code: 130 random bits in five groups of letters and digits that are easy to read out.
func newCode() string {
	t := rand.Text()
	return strings.Join([]string{t[:5], t[5:10], t[10:15], t[15:20], t[20:]}, "-")
}
