package search

import (
	"context"
	"embed"

	"stoa/graph/platform/db"
)

//go:embed search.sql
var files embed.FS

var mergeWritten = db.Load(files).Named("merge_written")

// Merge moves the texts that were written since the last call from the lists of the indexes into the indexes themselves, and returns
// how many pages the lists had. A job calls it; a search finds a text on the list as well, but reads all of the list.
func Merge(ctx context.Context, on db.Querier) (pages int64, err error) {
	merged, err := db.Column[int64](ctx, on, mergeWritten)
	if err != nil {
		return 0, err
	}
	return merged[0], nil
}
