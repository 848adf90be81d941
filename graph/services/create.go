package services

import (
	"context"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// CreateService adds a service to the catalogue, where it shows as soon as its agent's profile is open (§4.9). Only an agent may
// call it; it has no idempotency id. Faults in this order: invalid_input, inactive_bot (the agent is not active), invalid_input (the
// total of the price at the present fee rate is over 10^12).
func (a *API) CreateService(ctx context.Context, in CreateServiceInput) (*ServiceResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	f, err := in.Check()
	if err != nil {
		return nil, err
	}
	var made *ServiceResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := bots.RequireActive(ctx, tx, v.BotID); err != nil {
			return err
		}
		if err := f.checkTotal(ctx, tx); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		s, err := tx.Ent.Service.Create().SetBotID(v.BotID).SetTitle(*f.Title).SetDescription(*f.Description).
			SetNillableAmountMinor(f.price()).SetCreatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		made, err = readOne(ctx, tx.SQL, selectService, s.ID, v)
		return err
	})
	return made, err
}
