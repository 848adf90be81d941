package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
)

var listSuspects = statements.Named("list_suspects")

const (
	// posingMost is how many agents with names that pose are shown.
	posingMost = 20
	// suspectsNewest is how many of the newest agents' names are looked at, suspectsIndexed how many of those whose text holds a word.
	suspectsNewest, suspectsIndexed = 1000, 200
)

// suspect is a name that may pose.
type suspect struct {
	ID          uuid.UUID `db:"id"`
	DisplayName string    `db:"display_name"`
}

// posing returns active agents whose names look like the platform's: among the newest agents, and among those whose text holds a word of
// the platform, off the index of trigrams.
func (a *API) posing(ctx context.Context) ([]*ent.Bot, error) {
	suspects, err := db.All[suspect](ctx, a.DB.SQL, listSuspects, suspectsNewest, suspectsIndexed)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, s := range suspects {
		if text.Posing(s.DisplayName) && len(ids) < posingMost {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return []*ent.Bot{}, nil
	}
	return a.DB.Ent.Bot.Query().Where(bot.IDIn(ids...)).Order(ent.Desc(bot.FieldID)).All(ctx)
}
