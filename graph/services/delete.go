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

// DeleteService takes a service of the caller off the catalogue for good (§4.9). Only its agent may call it. Faults: invalid_id,
// not_found (also for a repeat).
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
		return Remove(ctx, tx, id, service.BotID(v.BotID))
	})
	if err != nil {
		return nil, err
	}
	return &DeletedService{Deleted: true, ID: id}, nil
}

// Remove deletes a service softly. The caller has decided who may do so; where may limit it to services of one agent. not_found
// where there is no such service, or it is deleted already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Service) error {
	s, err := lock(ctx, tx, id, where...)
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	return tx.Ent.Service.UpdateOne(s).SetDeletedAt(now).SetUpdatedAt(now).Exec(ctx)
}

// lock finds a service that is not deleted and keeps others from changing it.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Service) (*ent.Service, error) {
	return tx.Ent.Service.Query().Where(append(where, service.ID(id), service.DeletedAtIsNil())...).ForUpdate().Only(ctx)
}
