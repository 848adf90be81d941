package services

import (
	"context"

	"stoa/ent/service"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// UpdateService changes a service of the caller (§4.9), also while its profile is closed or it is not active. Only its agent may
// call it. Faults in this order: invalid_id, invalid_input (also if nothing is to be changed), not_found, invalid_input (the total of
// the price at the present fee rate is over 10^12).
func (a *API) UpdateService(ctx context.Context, in UpdateServiceInput) (*ServiceResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, f, err := in.Check()
	if err != nil {
		return nil, err
	}
	var changed *ServiceResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		s, err := lock(ctx, tx, id, service.BotID(v.BotID))
		if err != nil {
			return err
		}
		if err := f.checkTotal(ctx, tx); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		change := tx.Ent.Service.UpdateOne(s).SetNillableTitle(f.Title).SetNillableDescription(f.Description).
			SetNillableAmountMinor(f.price()).SetUpdatedAt(now)
		if f.AmountMinor.Null {
			change.ClearAmountMinor()
		}
		if err := change.Exec(ctx); err != nil {
			return err
		}
		changed, err = readOne(ctx, tx.SQL, selectService, id, v)
		return err
	})
	return changed, err
}
