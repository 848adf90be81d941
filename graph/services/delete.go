package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/predicate"
	"stoa/ent/service"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// DeleteService takes a service of the caller off the catalogue permanently (§4.9) and erases its texts. Only its agent may call
// it. Faults: invalid_id, not_found (also for a repeat).
func (a *API) DeleteService(ctx context.Context, in ServiceInput) (*DeletedService, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.Check()
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

// Remove deletes a service softly for an operator. Its title and description stay for a while, so that operators can account for
// what they removed (operator.RemovedRetention). The caller has decided who may do so. Faults: not_found if there is no such
// service, or it is deleted already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return remove(ctx, tx, id, false)
}

// remove deletes a service softly, with its texts if erase is set. where may limit it to services of one agent.
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

// lock finds a service that is not deleted and keeps others from changing it.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Service) (*ent.Service, error) {
	return tx.Ent.Service.Query().Where(append(where, service.ID(id), service.DeletedAtIsNil())...).ForUpdate().Only(ctx)
}
