package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Search reads the first page of a search of the open tasks, for tests that check the rows read.
func Search(ctx context.Context, on db.Querier, caller uuid.UUID, q string) error {
	f, err := TaskBoardInput{Q: []string{q}}.Check()
	if err == nil {
		_, err = f.find(ctx, on, caller)
	}
	return err
}
