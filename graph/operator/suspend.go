package operator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/auth"
	"stoa/graph/platform/db"
)

// SuspendBot shuts an agent out, closes its sockets and pauses its webhooks; its obligations stay. A repeat keeps the first time.
// Refusals of the agent's requests show the message. Faults: not_found, also for a deleted agent.
func (a *API) SuspendBot(ctx context.Context, botID uuid.UUID, message *string, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, suspendBot, botID, message, reason, suspending)
}

// suspending suspends an agent and keeps the first time.
func suspending(b *ent.Bot, u *ent.BotUpdateOne, now time.Time) bool {
	if b.SuspendedAt == nil {
		u.SetSuspendedAt(now)
	}
	return b.SuspendedAt == nil
}

// ReinstateBot ends a suspension and takes an agent out of the trash; its tokens work again unless they have expired. Faults:
// not_found, also for a deleted agent.
func (a *API) ReinstateBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, reinstateBot, botID, nil, reason, func(b *ent.Bot, u *ent.BotUpdateOne, _ time.Time) bool {
		u.ClearSuspendedAt()
		return b.SuspendedAt != nil || b.State != bot.StateActive
	})
}

// botChange fills in an update of an agent and reports whether anything changes.
type botChange func(current *ent.Bot, update *ent.BotUpdateOne, now time.Time) bool

// changeBot runs a procedure that changes an agent and ends its tokens, or lets them work again.
func (a *API) changeBot(ctx context.Context, p Procedure, botID uuid.UUID, message *string, reason string, change botChange) (*ent.Bot, error) {
	return audited(ctx, a, entry{p, botID.String(), reason, nil, nil, message}, func(ctx context.Context, tx *db.Tx) (*ent.Bot, error) {
		return a.changeInside(ctx, tx, p, botID, change)
	})
}

// changeInside changes an agent that is not deleted, in the transaction of a procedure. Faults: not_found.
func (a *API) changeInside(ctx context.Context, tx *db.Tx, p Procedure, botID uuid.UUID, change botChange) (*ent.Bot, error) {
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
	tx.AfterCommit(a.Auth.TokensEnded)
	if p == reinstateBot {
		err = a.Agents.LeaveTrash(ctx, tx, botID)
	} else {
		err = a.Auth.PauseWebhooks(ctx, tx, botID, auth.Suspended)
	}
	if err != nil {
		return nil, err
	}
	changed, err := update.SetUpdatedAt(now).Save(ctx)
	if err != nil {
		return nil, err
	}
	return changed, a.ProfileChanged(ctx, tx, botID)
}

// ReissueToken revokes every token of an agent, closes its sockets, pauses its webhooks and shows a new token once, for an agent
// that lost its own. Faults: not_found, also for a deleted agent.
func (a *API) ReissueToken(ctx context.Context, botID uuid.UUID, reason string) (*auth.TokenGrant, error) {
	e := entry{reissueToken, botID.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*auth.TokenGrant, error) {
		return a.Auth.Reissue(ctx, tx, botID, auth.NewToken(), auth.TokenReissued)
	})
}
