package operator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/bots"
	"stoa/graph/db"
	"stoa/graph/fault"
)

// SuspendBot shuts an agent out and closes its sockets; its obligations stay. A repeat keeps the first time. Faults:
// not_found, also for a deleted agent.
func (a *API) SuspendBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, suspendBot, botID, reason, func(b *ent.Bot, u *ent.BotUpdateOne, now time.Time) bool {
		if b.SuspendedAt == nil {
			u.SetSuspendedAt(now)
		}
		return b.SuspendedAt == nil
	})
}

// ReinstateBot ends a suspension and takes an agent out of the trash; its tokens work again unless they have expired. Faults:
// not_found, also for a deleted agent.
func (a *API) ReinstateBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, reinstateBot, botID, reason, func(b *ent.Bot, u *ent.BotUpdateOne, _ time.Time) bool {
		u.ClearSuspendedAt().SetState(bot.StateActive)
		return b.SuspendedAt != nil || b.State != bot.StateActive
	})
}

func (a *API) changeBot(ctx context.Context, p Procedure, botID uuid.UUID, reason string, change func(*ent.Bot, *ent.BotUpdateOne, time.Time) bool) (*ent.Bot, error) {
	if err := allow(ctx, reason, fault.Fields{}); err != nil {
		return nil, err
	}
	return audited(ctx, a, entry{p, botID.String(), reason, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Bot, error) {
		found, err := tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
		if err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		update := found.Update()
		if !change(found, update, now) {
			return found, nil
		}
		tx.AfterCommit(a.Identity.TokensEnded)
		return update.SetUpdatedAt(now).Save(ctx)
	})
}

// ReissueToken revokes every token of an agent, closes its sockets and shows a new token once: for an agent that lost its own.
// Faults: not_found, also for a deleted agent.
func (a *API) ReissueToken(ctx context.Context, botID uuid.UUID, reason string) (*bots.TokenGrant, error) {
	if err := allow(ctx, reason, fault.Fields{}); err != nil {
		return nil, err
	}
	return audited(ctx, a, entry{reissueToken, botID.String(), reason, nil}, func(ctx context.Context, tx *db.Tx) (*bots.TokenGrant, error) {
		return a.Identity.Reissue(ctx, tx, botID)
	})
}
