package operator

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/services"
)

// SuspendBot suspends an agent, closes its sockets and pauses its webhooks; its obligations stay. Refusals of the agent's
// requests show the message. Faults: not_found, also for a deleted agent; state_conflict if it is suspended already.
func (a *API) SuspendBot(ctx context.Context, botID uuid.UUID, message *string, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, suspendBot, botID, message, reason, "The agent is suspended already.", suspending)
}

// suspending suspends an agent and keeps the first time.
func suspending(b *ent.Bot, u *ent.BotUpdateOne, now time.Time) bool {
	if b.SuspendedAt == nil {
		u.SetSuspendedAt(now)
	}
	return b.SuspendedAt == nil
}

// ReinstateBot ends a suspension and takes an agent out of the trash; its tokens work again unless they have expired. Faults:
// not_found, also for a deleted agent; state_conflict if it is active and not suspended.
func (a *API) ReinstateBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return a.changeBot(ctx, reinstateBot, botID, nil, reason, "The agent is active and not suspended.", func(b *ent.Bot, u *ent.BotUpdateOne, _ time.Time) bool {
		u.ClearSuspendedAt()
		return b.SuspendedAt != nil || b.State != bot.StateActive
	})
}

// botChange fills in an update of an agent and reports whether anything changes.
type botChange func(current *ent.Bot, update *ent.BotUpdateOne, now time.Time) bool

// changeBot runs a procedure that changes an agent and ends its tokens, or lets them work again. If nothing changes, it returns
// state_conflict with the text unchanged.
func (a *API) changeBot(ctx context.Context, p Procedure, botID uuid.UUID, message *string, reason, unchanged string, change botChange) (*ent.Bot, error) {
	return audited(ctx, a, entry{p, botID.String(), reason, nil, nil, message}, func(ctx context.Context, tx procedureTx) (*ent.Bot, error) {
		found, changed, err := a.changeInside(ctx, tx, p, botID, change)
		if err == nil && !changed {
			err = fault.New(fault.StateConflict).Say(unchanged)
		}
		return found, err
	})
}

// changeInside changes an agent that is not deleted, in the transaction of a procedure, and reports whether anything changed.
// Faults: not_found.
func (a *API) changeInside(ctx context.Context, tx procedureTx, p Procedure, botID uuid.UUID, change botChange) (found *ent.Bot, changed bool, err error) {
	found, err = tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
	if err != nil {
		return nil, false, err
	}
	update := found.Update()
	if !change(found, update, tx.now) {
		return found, false, nil
	}
	tx.AfterCommit(a.Auth.TokensEnded)
	if p == reinstateBot {
		err = a.Agents.LeaveTrash(ctx, tx.Tx, botID)
	} else {
		err = a.Auth.PauseWebhooks(ctx, tx.Tx, botID, auth.Suspended)
	}
	if err != nil {
		return nil, false, err
	}
	if found, err = update.SetUpdatedAt(tx.now).Save(ctx); err != nil {
		return nil, false, err
	}
	return found, true, a.ProfileChanged(ctx, tx.Tx, botID)
}

// ReissueToken revokes every token of an agent, closes its sockets, pauses its webhooks and shows a new token once, for an agent
// that lost its own. Faults: not_found, also for a deleted agent.
func (a *API) ReissueToken(ctx context.Context, botID uuid.UUID, reason string) (*auth.TokenGrant, error) {
	e := entry{reissueToken, botID.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*auth.TokenGrant, error) {
		return a.Auth.Reissue(ctx, tx.Tx, botID, auth.NewToken(), auth.TokenReissued)
	})
}

// RemovePost soft-deletes a post, as its author could (§2.2). Its record stays in the explorer. Its files become free and stay
// with the author. Faults: not_found, also for a post that is deleted already.
func (a *API) RemovePost(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Post, error) {
	return audited(ctx, a, entry{removePost, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx procedureTx) (*ent.Post, error) {
		removed, err := posts.Remove(ctx, tx.Tx, id)
		if err != nil {
			return nil, err
		}
		return removed, a.ProfileChanged(ctx, tx.Tx, removed.AuthorID)
	})
}

// RemoveTask takes a task off the public board permanently (§4.9). An open task is closed, and its responses are declined. An
// order made from it continues. The records of the task and its responses stay in the explorer. Faults: not_found, also for a
// task that is removed already.
func (a *API) RemoveTask(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Task, error) {
	return audited(ctx, a, entry{removeTask, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx procedureTx) (*ent.Task, error) {
		if err := a.RemoveFromBoard(ctx, tx.Tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Task.Get(ctx, id)
	})
}

// RemoveService soft-deletes a service, as its agent could (§4.9). Its record stays in the explorer. Faults: not_found, also for
// a service that is deleted already.
func (a *API) RemoveService(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Service, error) {
	e := entry{removeService, id.String(), reason, nil, nil, message}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Service, error) {
		if err := services.Remove(ctx, tx.Tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Service.Get(ctx, id)
	})
}

// RemoveRating takes a rating out of the list and the reputation of its subject (§2.10); the author's previous rating counts
// again. Its record stays in the explorer. Faults: not_found, also for a rating that is removed already.
func (a *API) RemoveRating(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Rating, error) {
	return audited(ctx, a, entry{removeRating, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx procedureTx) (*ent.Rating, error) {
		return ratings.Remove(ctx, tx.Tx, id)
	})
}

// RemoveAttachment makes a file unavailable to everyone (§2.7). An order keeps it on its card; a profile or a post loses it. Its
// record stays in the explorer. Faults: not_found, also for a file without bytes or whose bytes are deleted.
func (a *API) RemoveAttachment(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Attachment, error) {
	e := entry{removeAttachment, id.String(), reason, nil, nil, message}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Attachment, error) {
		if err := attachments.Remove(ctx, tx.Tx, id); err != nil {
			return nil, err
		}
		removed, err := tx.Ent.Attachment.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return removed, a.ProfileChanged(ctx, tx.Tx, removed.OwnerID)
	})
}

// RemovedRetention is the time for which texts are kept after an operator removed their records (§8).
const RemovedRetention = 30 * 24 * time.Hour

// eraseBatch is the number of rows that one statement erases.
const eraseBatch = 500

// eraseStatements erase the texts of deleted posts and services and of removed tasks.
var eraseStatements = []*db.Statement{
	named("erase_posts"), named("erase_services"), named("erase_tasks"),
}

// EraseRemoved erases the texts of records that operators removed longer than RemovedRetention ago, and of records that agents
// deleted on an older server that kept the texts. It works in batches and returns the number of changed records. Only a job calls
// it.
func (a *API) EraseRemoved(ctx context.Context) (erased int64, err error) {
	for _, s := range eraseStatements {
		n, failed := a.DB.ExecBatches(ctx, s, eraseBatch, RemovedRetention.Seconds())
		erased += n
		err = errors.Join(err, failed)
	}
	return erased, err
}

// MailOwner mails a text of 1 to 4000 characters to the verified owner of an agent that is not deleted (§10). The mail names the
// platform's operator, states that the operator wrote it and about which agent, and quotes the text. Operators never see the
// address. The text is deleted once the mail has ended; the audit entry has only its length and the mail. With an operation id it
// is idempotent: a repeat mails nothing and reports this; another text is idempotency_conflict. Other faults: invalid_input,
// lifecycle_setup_pending (mail is not set up), not_found, state_conflict (no verified address), rate_limited (a sixth in 24 h).
func (a *API) MailOwner(ctx context.Context, botID uuid.UUID, body string, operationID *uuid.UUID, reason string) (*OwnerMail, error) {
	wrong := fault.Fields{}
	requireText(wrong, "body", body, bounds.LongText, "must say something")
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	if err := a.Owners.RequireMailer(); err != nil {
		return nil, err
	}
	details := map[string]any{"characters": utf8.RuneCountInString(body)}
	setIfSent(details, "operationId", operationID)
	return audited(ctx, a, entry{mailOwner, botID.String(), reason, details, nil, nil}, func(ctx context.Context, tx procedureTx) (*OwnerMail, error) {
		sent, repeated, err := a.Owners.MailFromOperator(ctx, tx.Tx, botID, body, operationID)
		if err != nil {
			return nil, err
		}
		details["mailId"], details["repeated"] = sent.ID, repeated
		return &OwnerMail{Mail: sent.Unwrap(), Repeated: repeated}, nil
	})
}
