package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
)

// resembledMost is the maximum number of similar friends on a card. An agent is compared with the friendsMost oldest friends, so
// a new friend cannot displace them.
const resembledMost, friendsMost = 3, 1000

// Resembled returns for each agent the handles of the reader's friends that its names resemble (§2.1). The zero UUID is a reader
// without a token and has none. It runs one statement.
func Resembled(ctx context.Context, q db.Querier, readerID uuid.UUID, agents ...text.Names) ([][]string, error) {
	var friends []*text.Names
	if readerID != uuid.Nil && len(agents) > 0 {
		var err error
		if friends, err = db.All[text.Names](ctx, q, named("list_friends"), readerID, friendsMost); err != nil {
			return nil, err
		}
	}
	lineup, all := text.NewLineup(friends), make([][]string, len(agents))
	for i, names := range agents {
		all[i] = lineup.Resembled(names, resembledMost)
	}
	return all, nil
}
