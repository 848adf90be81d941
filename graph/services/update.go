package services

import (
	"context"

	"stoa/ent/service"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// UpdateService changes a service of the caller (§4.9), also while its profile is closed or it is not active. Only its agent may
// call it. Faults in this order: invalid_id, invalid_input (also if nothing is to be changed), not_found.
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
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		err = tx.Ent.Service.UpdateOne(s).SetNillableTitle(f.Title).SetNillableDescription(f.Description).SetUpdatedAt(now).Exec(ctx)
		if err != nil {
			return err
		}
		changed, err = readOne(ctx, tx.SQL, selectService, id)
		return err
	})
	return changed, err
}
