package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/bot"
	"stoa/ent/token"
	"stoa/graph/db"
)

// Reissue ends every token of an agent that is not deleted and makes a new one, inside a transaction of an operator's
// procedure. It returns not_found.
func (a *API) Reissue(ctx context.Context, tx *db.Tx, botID uuid.UUID) (*TokenGrant, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx); err != nil {
		return nil, err
	}
	if err := tx.Ent.Token.Update().Where(token.BotID(botID), token.RevokedAtIsNil()).SetRevokedAt(now).Exec(ctx); err != nil {
		return nil, err
	}
	tx.AfterCommit(a.TokensEnded)
	return a.grantToken(ctx, tx, botID)
}
