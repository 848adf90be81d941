package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/db"
)

var listErasures = statements.Named("list_erasures")

// OpenErasure is an erasure that is not done, with its agent. Operators see it.
type OpenErasure struct {
	Bot     *ent.Bot
	Erasure *ErasureCard
}

// OpenErasures returns the erasures that are not done, those that are due first before the others.
func OpenErasures(ctx context.Context, from *db.DB, most int64) ([]*OpenErasure, error) {
	rows, err := db.All[struct {
		erasureRow

		BotID uuid.UUID `db:"bot_id"`
	}](ctx, from.SQL, listErasures, most)
	if err != nil || len(rows) == 0 {
		return []*OpenErasure{}, err
	}
	all, ids := make([]*OpenErasure, len(rows)), make([]uuid.UUID, len(rows))
	for i := range rows {
		all[i], ids[i] = &OpenErasure{Erasure: rows[i].card()}, rows[i].BotID
	}
	agents, err := from.Ent.Bot.Query().Where(bot.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}
	byID := make(map[uuid.UUID]*ent.Bot, len(agents))
	for _, agent := range agents {
		byID[agent.ID] = agent
	}
	for i, id := range ids {
		all[i].Bot = byID[id]
	}
	return all, nil
}
