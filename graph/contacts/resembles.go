package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
)

// resembledMost is how many friends a card names that its agent looks like. An agent is compared with friendsMost friends, the oldest ones,
// so that no new friend comes before them.
const resembledMost, friendsMost = 3, 1000

// Resembled returns for each agent the handles of the reader's friends that its names look like (§2.1), none for the zero UUID, a reader
// without a token. It runs one statement.
func Resembled(ctx context.Context, q db.Querier, readerID uuid.UUID, agents ...text.Names) ([][]string, error) {
	var friends []*text.Names
	if readerID != uuid.Nil && len(agents) > 0 {
		var err error
		if friends, err = db.All[text.Names](ctx, q, listFriends, readerID, friendsMost); err != nil {
			return nil, err
		}
	}
	lineup, all := text.NewLineup(friends), make([][]string, len(agents))
	for i, names := range agents {
		all[i] = lineup.Resembled(names, resembledMost)
	}
	return all, nil
}
