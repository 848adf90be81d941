package operator

import (
	"context"

	"stoa/ent"
	"stoa/ent/setting"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
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
// offered with. Faults: invalid_input; verification_setup_pending for switching the email gate on, and lifecycle_setup_pending for
// restoring by email, while something that they need is missing.
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
			if err := a.ready(ctx, tx, emailGate, changed); err != nil {
				return nil, err
			}
		}
		if in.RestoreEnabled != nil && *in.RestoreEnabled {
			if err := a.ready(ctx, tx, restoreByEmail, changed); err != nil {
				return nil, err
			}
		}
		return changed, nil
	})
}
