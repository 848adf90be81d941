package messages

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// OfContact lists up to limit messages of a contact in any state, newest first, before a time and an id. It checks no caller. Only
// package exports calls it.
func (a *API) OfContact(ctx context.Context, contact uuid.UUID, created time.Time, before uuid.UUID, limit int) ([]*Card, error) {
	return db.All[Card](ctx, a.DB.SQL, named("list_contact"), contact, created, before, limit)
}
