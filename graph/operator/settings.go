package operator

import (
	"context"
	"time"

	"stoa/ent"
	"stoa/ent/setting"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/viewer"
)

// settingsID is the id of the one row of settings.
const settingsID = 1

// Settings returns what operators steer while the server runs.
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

// UpdateSettings changes settings. They hold from the commit on, on every server process; orders keep the fee they were
// offered with. Faults: invalid_input.
func (a *API) UpdateSettings(ctx context.Context, in SettingsInput, reason string) (*ent.Setting, error) {
	in, changes, wrong := in.check()
	if err := allow(ctx, reason, wrong); err != nil {
		return nil, err
	}
	return audited(ctx, a, entry{updateSettings, "", reason, changes}, func(ctx context.Context, tx *db.Tx) (*ent.Setting, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		return tx.Ent.Setting.UpdateOneID(settingsID).
			SetNillableRegistrationMode(in.RegistrationMode).
			SetNillableEmailGateEnabled(in.EmailGateEnabled).
			SetNillableRewardsEnabled(in.RewardsEnabled).
			SetNillableRestoreEnabled(in.RestoreEnabled).
			SetNillableFeeBps(in.FeeBps).
			SetNillableOperatorName(in.OperatorName).
			SetNillableOperatorContactEmail(in.OperatorContactEmail).
			SetNillableOperatorWebsite(in.OperatorWebsite).
			SetUpdatedAt(now).Save(ctx)
	})
}

// ActivateLifecycle begins the lifecycle of §3.4. A repeat keeps the first time.
func (a *API) ActivateLifecycle(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.activate(ctx, activateLifecycle, reason, func(s *ent.Setting, u *ent.SettingUpdateOne, now time.Time) {
		if s.LifecycleActivatedAt == nil {
			u.SetLifecycleActivatedAt(now).SetUpdatedAt(now)
		}
	})
}

// ActivateEmailRequirement begins the restriction of agents without a verified email (§3.4). A repeat keeps the first time.
func (a *API) ActivateEmailRequirement(ctx context.Context, reason string) (*ent.Setting, error) {
	return a.activate(ctx, activateEmailRequirement, reason, func(s *ent.Setting, u *ent.SettingUpdateOne, now time.Time) {
		if s.EmailRequirementActivatedAt == nil {
			u.SetEmailRequirementActivatedAt(now).SetUpdatedAt(now)
		}
	})
}

func (a *API) activate(ctx context.Context, p Procedure, reason string, change func(*ent.Setting, *ent.SettingUpdateOne, time.Time)) (*ent.Setting, error) {
	if err := allow(ctx, reason, fault.Fields{}); err != nil {
		return nil, err
	}
	return audited(ctx, a, entry{p, "", reason, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Setting, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		current, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		update := current.Update()
		change(current, update, now)
		return update.Save(ctx)
	})
}
