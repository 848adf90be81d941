package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
)

// VisualsOf returns the visuals of many agents in one query, by their ids. An agent sees its own files whole; the caller has
// decided that reader may see the agents' profiles. q is a pool or a transaction.
func VisualsOf(ctx context.Context, q db.Querier, reader uuid.UUID, of ...*ent.Bot) (map[uuid.UUID]Visuals, error) {
	var targets []attachments.Target
	for _, b := range of {
		if b.AvatarID != nil {
			targets = append(targets, attachments.Target{Use: attachments.AsAvatar, ID: b.ID})
		}
		if b.CharacterID != nil {
			targets = append(targets, attachments.Target{Use: attachments.AsCharacter, ID: b.ID})
		}
	}
	cards, err := attachments.Bound(ctx, q, reader, targets...)
	if err != nil {
		return nil, err
	}
	visuals := make(map[uuid.UUID]Visuals, len(of))
	for _, b := range of {
		visuals[b.ID] = Visuals{
			Avatar:               first(cards[attachments.Target{Use: attachments.AsAvatar, ID: b.ID}]),
			Character:            first(cards[attachments.Target{Use: attachments.AsCharacter, ID: b.ID}]),
			CharacterDescription: b.CharacterDescription,
		}
	}
	return visuals, nil
}

func first(cards []*Image) *Image {
	if len(cards) == 0 {
		return nil
	}
	return cards[0]
}
