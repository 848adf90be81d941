package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// DeepPage is a page of the feed as the statements for pages far down read it, wherever it lies; both kinds where kind is empty.
func (a *API) DeepPage(ctx context.Context, caller uuid.UUID, skip, limit int, kind string) ([]uuid.UUID, error) {
	statement, args := deepPages.bothKinds, []any{caller, skip, limit}
	if kind != "" {
		statement, args = deepPages.oneKind, append(args, kind)
	}
	rows, err := db.All[row](ctx, a.DB.SQL, statement, args...)
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, err
}
