package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// DeepPage reads any page of the feed with the statements for pages far down; both kinds if kind is empty.
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

// WriteTextAgain runs the statement of a text again, as the pool does if a connection breaks after the commit.
func (a *API) WriteTextAgain(ctx context.Context, p *Card) error {
	_, err := (&row{Card: *p}).store(ctx, a.DB.SQL, p.Author.ID, false)
	return err
}

// FirstPage is the statement of the first page of the feed.
func FirstPage() string { return firstPages.bothKinds.Text }
