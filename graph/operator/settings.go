package operator

import (
	"context"

	"stoa/ent"
	"stoa/ent/setting"
	"stoa/graph/platform/db"
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
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Setting, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := tx.Ent.Setting.UpdateOneID(settingsID).
			SetNillableRegistrationMode(in.RegistrationMode).
			SetNillableEmailGateEnabled(in.EmailGateEnabled).
			SetNillableRewardsEnabled(in.RewardsEnabled).
			SetNillableRestoreEnabled(in.RestoreEnabled).
			SetNillableFeeBps(in.FeeBps).
			SetNillableOperatorName(in.OperatorName).
			SetNillableOperatorContactEmail(in.OperatorContactEmail).
			SetNillableOperatorWebsite(in.OperatorWebsite).
			SetUpdatedAt(now).Save(ctx)
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
			if err := a.ready(ctx, tx, one.sw); err != nil {
				return nil, err
			}
		}
		if in.RewardsEnabled != nil && *in.RewardsEnabled {
			return changed, a.Enqueue(ctx, tx, wallet.RewardsJob{})
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

// turn runs the procedure that turns a switch with a time on or off.
func (a *API) turn(ctx context.Context, sw setupSwitch, on bool, reason string) (*ent.Setting, error) {
	details, p := map[string]any{}, sw.deactivate
	if on {
		p = sw.activate
	}
	return audited(ctx, a, entry{p, "", reason, details, nil, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Setting, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		current, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		update := current.Update().SetUpdatedAt(now)
		if !on {
			details["activatedAt"] = sw.since(current)
			return sw.end(update).Save(ctx)
		}
		if sw.since(current) == nil {
			sw.begin(update, now)
		}
		if err := a.ready(ctx, tx, sw); err != nil {
			return nil, err
		}
		return update.Save(ctx)
	})
}
