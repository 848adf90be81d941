package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/mail"
	"net/url"
	"regexp"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/document"
	"stoa/ent/setting"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// settingsID is the id of the one row of settings.
const settingsID = 1

// Settings returns the settings that operators can change while the server runs.
func (a *API) Settings(ctx context.Context) (*ent.Setting, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	return a.DB.Ent.Setting.Get(ctx, settingsID)
}

// SettingsInput holds the settings to change; nil keeps a value.
type SettingsInput struct {
	RegistrationMode     *setting.RegistrationMode
	EmailGateEnabled     *bool
	RewardsEnabled       *bool
	RestoreEnabled       *bool
	FeeBps               *int64
	OperatorName         *string
	OperatorContactEmail *string
	OperatorWebsite      *string
}

// UpdateSettings changes settings. They apply after the commit, on every server process; orders keep the fee of their offer.
// Faults: invalid_input; verification_setup_pending for switching the email gate on, and lifecycle_setup_pending for restoring by
// email, while required setup is missing.
func (a *API) UpdateSettings(ctx context.Context, in SettingsInput, reason string) (*ent.Setting, error) {
	in, changes, wrong := in.check()
	e := entry{updateSettings, "", reason, changes, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Setting, error) {
		changed, err := tx.Ent.Setting.UpdateOneID(settingsID).
			SetNillableRegistrationMode(in.RegistrationMode).
			SetNillableEmailGateEnabled(in.EmailGateEnabled).
			SetNillableRewardsEnabled(in.RewardsEnabled).
			SetNillableRestoreEnabled(in.RestoreEnabled).
			SetNillableFeeBps(in.FeeBps).
			SetNillableOperatorName(in.OperatorName).
			SetNillableOperatorContactEmail(in.OperatorContactEmail).
			SetNillableOperatorWebsite(in.OperatorWebsite).
			SetUpdatedAt(tx.now).Save(ctx)
		if err != nil {
			return nil, err
		}
		for _, one := range []struct {
			sent *bool
			sw   setupSwitch
		}{{in.EmailGateEnabled, emailGate}, {in.RestoreEnabled, restoreByEmail}} {
			if one.sent == nil || !*one.sent {
				continue
			}
			if err := a.ready(ctx, tx.Tx, one.sw); err != nil {
				return nil, err
			}
		}
		if in.RewardsEnabled != nil && *in.RewardsEnabled {
			return changed, a.Enqueue(ctx, tx.Tx, wallet.RewardsJob{})
		}
		return changed, nil
	})
}

// ActivateLifecycle begins the lifecycle of §3.4. A repeat keeps the first time, until DeactivateLifecycle. Faults:
// lifecycle_setup_pending while mail cannot be sent.
func (a *API) ActivateLifecycle(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.turn(ctx, agentLifecycle, true, reason)
}

// DeactivateLifecycle undoes ActivateLifecycle; the audit entry holds the time of activation. Agents in the trash stay there.
func (a *API) DeactivateLifecycle(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.turn(ctx, agentLifecycle, false, reason)
}

// ActivateEmailRequirement begins the restriction of agents without a verified email (§3.4). A repeat keeps the first time, until
// DeactivateEmailRequirement. Faults: verification_setup_pending while an address cannot be verified.
func (a *API) ActivateEmailRequirement(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.turn(ctx, emailRequirement, true, reason)
}

// DeactivateEmailRequirement undoes ActivateEmailRequirement at once; the audit entry holds the time of activation.
func (a *API) DeactivateEmailRequirement(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.turn(ctx, emailRequirement, false, reason)
}

// turn runs the procedure that switches on or off a switch with a time.
func (a *API) turn(ctx context.Context, sw setupSwitch, on bool, reason string) (*ent.Setting, error) {
	details, p := map[string]any{}, sw.deactivate
	if on {
		p = sw.activate
	}
	return audited(ctx, a, entry{p, "", reason, details, nil, nil}, func(ctx context.Context, tx procedureTx) (*ent.Setting, error) {
		current, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		update := current.Update().SetUpdatedAt(tx.now)
		if !on {
			details["activatedAt"] = sw.since(current)
			return sw.end(update).Save(ctx)
		}
		if sw.since(current) == nil {
			sw.begin(update, tx.now)
		}
		if err := a.ready(ctx, tx.Tx, sw); err != nil {
			return nil, err
		}
		return update.Save(ctx)
	})
}

// Bounds of operators' input; lengths in characters.
const (
	maxFeeBps       = 10_000
	maxOperatorName = 160
	maxEmail        = 254
	maxWebsite      = 2000
	maxNote         = 500
	maxTitle        = 160
	maxVersion      = 40
	maxDocument     = 200_000
	maxAnswer       = 4000
	maxUses         = 1_000_000
	// MaxTopUpMinor is the largest top-up, in minor units.
	MaxTopUpMinor = 1_000_000_000_000
)

var errWebsite = errors.New("must be an http or https URL with a host, or empty")

// check returns the normalized settings, the details of the audit entry, and the complaints.
func (in SettingsInput) check() (SettingsInput, map[string]any, fault.Fields) {
	wrong, changes := fault.Fields{}, map[string]any{}
	if in.FeeBps != nil && (*in.FeeBps < 0 || *in.FeeBps > maxFeeBps) {
		wrong.Add("feeBps", errors.New("must be from 0 to 10000 basis points"))
	}
	in.OperatorName = line(wrong, "operatorName", in.OperatorName, maxOperatorName)
	in.OperatorContactEmail = line(wrong, "operatorContactEmail", in.OperatorContactEmail, maxEmail)
	if email := in.OperatorContactEmail; email != nil && *email != "" {
		parsed, err := mail.ParseAddress(*email)
		if err != nil || parsed.Address != *email {
			wrong.Add("operatorContactEmail", errors.New("must be one plain email address, or empty"))
		}
	}
	in.OperatorWebsite = line(wrong, "operatorWebsite", in.OperatorWebsite, maxWebsite)
	if website := in.OperatorWebsite; website != nil && !webAddress(*website) {
		wrong.Add("operatorWebsite", errWebsite)
	}
	setIfSent(changes, "registrationMode", in.RegistrationMode)
	setIfSent(changes, "emailGateEnabled", in.EmailGateEnabled)
	setIfSent(changes, "rewardsEnabled", in.RewardsEnabled)
	setIfSent(changes, "restoreEnabled", in.RestoreEnabled)
	setIfSent(changes, "feeBps", in.FeeBps)
	setIfSent(changes, "operatorName", in.OperatorName)
	setIfSent(changes, "operatorContactEmail", in.OperatorContactEmail)
	setIfSent(changes, "operatorWebsite", in.OperatorWebsite)
	if len(changes) == 0 {
		wrong.Add("input", errors.New("must hold at least one field to change"))
	}
	return in, changes, wrong
}

// check returns the number of uses, the normalized note, and the complaints.
func (in InvitationInput) check() (uses int, kept string, wrong fault.Fields) {
	uses, wrong = 1, fault.Fields{}
	if in.Uses != nil {
		if uses = *in.Uses; uses < 1 || uses > maxUses {
			wrong.Add("uses", errors.New("must be from 1 to 1000000"))
		}
	}
	if sent := line(wrong, "note", in.Note, maxNote); sent != nil {
		kept = *sent
	}
	return uses, kept, wrong
}

// documentKey matches a document's key.
var documentKey = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// check returns the normalized document, and the complaints.
func (in DocumentInput) check() (DocumentInput, fault.Fields) {
	wrong := fault.Fields{}
	if !documentKey.MatchString(in.Key) {
		wrong.Add("key", errors.New("must be a lower-case letter and up to 39 lower-case letters, digits and hyphens"))
	}
	var err error
	in.Title, err = text.Line(in.Title, 1, maxTitle)
	wrong.Add("title", err)
	in.Version, err = text.Line(in.Version, 1, maxVersion)
	wrong.Add("version", err)
	in.URL, err = text.Line(in.URL, 0, maxWebsite)
	if err == nil && !webAddress(in.URL) {
		err = errWebsite
	}
	wrong.Add("url", err)
	_, err = text.Multi(in.Text, 1, maxDocument)
	wrong.Add("text", err)
	return in, wrong
}

// webAddress reports whether s is an http or https URL with a host, or empty.
func webAddress(s string) bool {
	parsed, err := url.Parse(s)
	return s == "" || (err == nil && parsed.Hostname() != "" && (parsed.Scheme == "http" || parsed.Scheme == "https"))
}

func line(wrong fault.Fields, field string, sent *string, longest int) *string {
	if sent == nil {
		return nil
	}
	kept, err := text.Line(*sent, 0, longest)
	wrong.Add(field, err)
	return &kept
}

// setIfSent adds a field to the details of an audit entry if it was sent.
func setIfSent[Value any](details map[string]any, field string, sent *Value) {
	if sent != nil {
		details[field] = *sent
	}
}

// PublishDocument puts a version of a document in force and withdraws the previous one (§4.1). A version never changes: owners
// confirmed it by the hash of its text. Faults: invalid_input, also for a version of this key that was published before.
func (a *API) PublishDocument(ctx context.Context, in DocumentInput, reason string) (*ent.Document, error) {
	in, wrong := in.check()
	id, sum := uuid.Must(uuid.NewV7()), sha256.Sum256([]byte(in.Text))
	hash := hex.EncodeToString(sum[:])
	details := map[string]any{"key": in.Key, "title": in.Title, "version": in.Version, "url": in.URL, "sha256": hash}
	e := entry{publishDocument, id.String(), reason, details, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Document, error) {
		// Publications run one after another: each sees the version in force.
		if _, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx); err != nil {
			return nil, err
		}
		err := tx.Ent.Document.Update().Where(document.Key(in.Key), document.WithdrawnAtIsNil()).SetWithdrawnAt(tx.now).Exec(ctx)
		if err != nil {
			return nil, err
		}
		made, err := tx.Ent.Document.Create().SetID(id).SetKey(in.Key).SetTitle(in.Title).SetVersion(in.Version).SetURL(in.URL).
			SetText(in.Text).SetSha256(hash).SetCreatedAt(tx.now).Save(ctx)
		if db.Violates(err, "document_key_version") {
			return nil, fault.Field(fault.InvalidInput, "version", "was published before; a published version never changes")
		}
		return made, err
	})
}

// WithdrawDocument withdraws a version of a document without a successor. A repeat keeps the first time. Faults: not_found.
func (a *API) WithdrawDocument(ctx context.Context, id uuid.UUID, reason string) (*ent.Document, error) {
	e := entry{withdrawDocument, id.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Document, error) {
		found, err := tx.Ent.Document.Query().Where(document.ID(id)).ForUpdate().Only(ctx)
		if err != nil || found.WithdrawnAt != nil {
			return found, err
		}
		return found.Update().SetWithdrawnAt(tx.now).Save(ctx)
	})
}
