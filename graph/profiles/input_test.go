package profiles

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// Search reads the rows of the first page of a search, for tests that check the rows read.
func Search(ctx context.Context, on db.Querier, caller uuid.UUID, q, specialty string) error {
	f, err := SearchInput{Q: page.Param{q}, Specialty: page.Param{specialty}}.Check()
	if err == nil {
		_, err = f.find(ctx, on, caller)
	}
	return err
}
