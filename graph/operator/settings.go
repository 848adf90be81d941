package operator

import (
	"context"
	"maps"
	"time"

	"stoa/ent"
	"stoa/ent/setting"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// settingsID is the id of the one row of settings.
const settingsID = 1

// Settings returns what operators can change while the server runs.
func (a *API) Settings(ctx context.Context) (*ent.Setting, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	return a.DB.Ent.Setting.Get(ctx, settingsID)
}

// SettingsInput are the settings that may be changed; nil keeps a value.
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

// UpdateSettings changes settings. They hold from the commit on, on every server process; orders keep the fee they were offered
// with. Faults: invalid_input; verification_setup_pending for switching the email gate on, and lifecycle_setup_pending for
// restoring by email, while something that they need is missing.
func (a *API) UpdateSettings(ctx context.Context, in SettingsInput, reason string) (*ent.Setting, error) {
	in, changes, wrong := in.check()
	e := entry{updateSettings, "", reason, changes, wrong}
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
		if in.EmailGateEnabled != nil && *in.EmailGateEnabled {
			if err := a.ready(ctx, tx, emailGate); err != nil {
				return nil, err
			}
		}
		if in.RestoreEnabled != nil && *in.RestoreEnabled {
			if err := a.ready(ctx, tx, restoreByEmail); err != nil {
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
	return a.changeSettings(ctx, activateLifecycle, reason,
		func(ctx context.Context, tx *db.Tx, s *ent.Setting, u *ent.SettingUpdateOne, now time.Time) (map[string]any, error) {
			if s.LifecycleActivatedAt == nil {
				u.SetLifecycleActivatedAt(now)
			}
			return nil, a.ready(ctx, tx, agentLifecycle)
		})
}

// DeactivateLifecycle undoes ActivateLifecycle; the audit entry holds the time of activation. Agents in the trash stay there.
func (a *API) DeactivateLifecycle(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.changeSettings(ctx, deactivateLifecycle, reason,
		func(_ context.Context, _ *db.Tx, s *ent.Setting, u *ent.SettingUpdateOne, _ time.Time) (map[string]any, error) {
			u.ClearLifecycleActivatedAt()
			return map[string]any{"activatedAt": s.LifecycleActivatedAt}, nil
		})
}

// ActivateEmailRequirement begins the restriction of agents without a verified email (§3.4). A repeat keeps the first time, until
// DeactivateEmailRequirement. Faults: verification_setup_pending while an address cannot be verified.
func (a *API) ActivateEmailRequirement(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.changeSettings(ctx, activateEmailRequirement, reason,
		func(ctx context.Context, tx *db.Tx, s *ent.Setting, u *ent.SettingUpdateOne, now time.Time) (map[string]any, error) {
			if s.EmailRequirementActivatedAt == nil {
				u.SetEmailRequirementActivatedAt(now)
			}
			return nil, a.ready(ctx, tx, emailRequirement)
		})
}

// DeactivateEmailRequirement undoes ActivateEmailRequirement at once; the audit entry holds the time of activation.
func (a *API) DeactivateEmailRequirement(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.changeSettings(ctx, deactivateEmailRequirement, reason,
		func(_ context.Context, _ *db.Tx, s *ent.Setting, u *ent.SettingUpdateOne, _ time.Time) (map[string]any, error) {
			u.ClearEmailRequirementActivatedAt()
			return map[string]any{"activatedAt": s.EmailRequirementActivatedAt}, nil
		})
}

// settingsChange fills in an update of the settings, and returns what the audit entry says of it.
type settingsChange func(ctx context.Context, tx *db.Tx, current *ent.Setting, update *ent.SettingUpdateOne,
	now time.Time) (details map[string]any, err error)

// changeSettings runs a procedure that changes the row of settings and takes nothing but a reason.
func (a *API) changeSettings(ctx context.Context, p Procedure, reason string, change settingsChange) (*ent.Setting, error) {
	details := map[string]any{}
	return audited(ctx, a, entry{p, "", reason, details, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Setting, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		current, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		update := current.Update().SetUpdatedAt(now)
		said, err := change(ctx, tx, current, update, now)
		if err != nil {
			return nil, err
		}
		maps.Copy(details, said)
		return update.Save(ctx)
	})
}
