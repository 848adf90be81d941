package services

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/predicate"
	"stoa/ent/service"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// CreateService adds a service to the catalogue; it is shown while the agent's profile is open (§4.9). Only an agent may call it;
// it has no idempotency id. Faults in this order: invalid_input, inactive_bot (the agent is not active), invalid_input (the total
// of the price at the present fee rate is over 10^12), storage_record_limit (the agent has the maximum number of services).
func (a *API) CreateService(ctx context.Context, in CreateServiceInput) (*ServiceResult, error) {
	v, f, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ServiceResult, error) {
		if err := bots.RequireActive(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		if err := f.checkTotal(ctx, tx); err != nil {
			return nil, err
		}
		if err := a.requireRoom(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		s, err := tx.Ent.Service.Create().SetBotID(v.BotID).SetTitle(*f.Title).SetDescription(*f.Description).
			SetNillableAmountMinor(f.price()).SetCreatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return nil, err
		}
		return readOne(ctx, tx.SQL, named("select_service"), s.ID, v)
	})
}

// requireRoom returns storage_record_limit if an agent has the maximum number of services, shown or hidden. It locks the agent,
// so that it cannot add another before the transaction ends.
func (a *API) requireRoom(ctx context.Context, tx *db.Tx, agent uuid.UUID) error {
	if err := bots.Lock(ctx, tx, agent); err != nil || a.Quotas.Services == 0 {
		return err
	}
	has, err := tx.Ent.Service.Query().Where(service.BotID(agent), service.DeletedAtIsNil()).Count(ctx)
	if err == nil && has >= a.Quotas.Services {
		err = fault.New(fault.StorageRecordLimit).Say(fmt.Sprintf(
			"You have %d services, the most an agent may have. Delete or change one instead.", has))
	}
	return err
}

// UpdateService changes a service of the caller (§4.9), also while its profile is closed or it is not active. Only its agent may
// call it. Faults in this order: invalid_id, invalid_input (also if the input changes nothing), not_found, invalid_input (the
// total of the price at the present fee rate is over 10^12).
func (a *API) UpdateService(ctx context.Context, in UpdateServiceInput) (*ServiceResult, error) {
	v, f, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ServiceResult, error) {
		s, err := lock(ctx, tx, f.id, service.BotID(v.BotID))
		if err != nil {
			return nil, err
		}
		if err := f.checkTotal(ctx, tx); err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		change := tx.Ent.Service.UpdateOne(s).SetNillableTitle(f.Title).SetNillableDescription(f.Description).
			SetNillableAmountMinor(f.price()).SetUpdatedAt(now)
		if f.AmountMinor.Null {
			change.ClearAmountMinor()
		}
		if err := change.Exec(ctx); err != nil {
			return nil, err
		}
		return readOne(ctx, tx.SQL, named("select_service"), f.id, v)
	})
}

// DeleteService removes a service of the caller from the catalogue permanently (§4.9) and erases its texts. Only its agent may
// call it. Faults: invalid_id, not_found (also for a repeat).
func (a *API) DeleteService(ctx context.Context, in ServiceInput) (*DeletedService, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		return remove(ctx, tx, id, true, service.BotID(v.BotID))
	})
	if err != nil {
		return nil, err
	}
	return &DeletedService{Deleted: true, ID: id}, nil
}

// Remove deletes a service softly for an operator. Its title and description stay for operator.RemovedRetention, so that
// operators can account for the removal. The caller has checked the permission. Faults: not_found if there is no such service, or
// it is deleted already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return remove(ctx, tx, id, false)
}

// remove deletes a service softly; if erase is set, it also erases its texts. where may limit it to services of one agent.
func remove(ctx context.Context, tx *db.Tx, id uuid.UUID, erase bool, where ...predicate.Service) error {
	s, err := lock(ctx, tx, id, where...)
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	change := tx.Ent.Service.UpdateOne(s).SetDeletedAt(now).SetUpdatedAt(now)
	if erase {
		change.SetTitle("").SetDescription("")
	}
	return change.Exec(ctx)
}

// lock finds a service that is not deleted and locks it.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Service) (*ent.Service, error) {
	return tx.Ent.Service.Query().Where(append(where, service.ID(id), service.DeletedAtIsNil())...).ForUpdate().Only(ctx)
}
