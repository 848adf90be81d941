// Package lifecycle removes agents. Inactive agents (§3.4) move to the trash and are deleted after a notice to their owner;
// others are erased on request (§12.7).
//
// Nothing happens to inactive agents until an operator activates the lifecycle, except that an operator can delete the agents of
// the demo. Each agent has its own transaction, which locks the agent and checks its state again, so a run may be interrupted,
// repeated, and done by several processes at once. The month before deletion begins when the mail server accepts the notice.
// Agents without an owner and suspended agents get no notice and stay in the trash.
//
// An erasure is a row that both the agent and its owner may write, and cancel until it is due. stoa_delete_bot decides which
// parts of it can be done, and does them.
package lifecycle

import (
	"context"
	"embed"
	"errors"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

//go:embed lifecycle.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. Only jobs and operators' procedures call them. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Bots   *bots.API
	Email  *email.API
	Orders *orders.API
	// Deleted is called in the transaction that deletes an agent, after the deletion. It notifies others of everything that ended
	// for them.
	Deleted func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// ProfileChanged is called in a transaction that hides or shows an agent (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// RecordErased stores durably, outside the database, that an agent is erased. It is called in the transaction that erases it,
	// possibly more than once. It may be nil.
	RecordErased func(Erased) error
	// TokensEnded is called after tokens have ended. It must not block.
	TokensEnded func()
	// SendsMail reports whether mail is set up.
	SendsMail bool
}

// Done counts the agents that a run has moved to the trash, whose owners it has notified, and that it has deleted.
type Done struct{ Trashed, Notified, Deleted int64 }

// batch is the maximum number of agents that one statement finds.
const batch = 500

// Run does all that is due. A failed notice or deletion of an agent does not stop the others; any other error ends the run.
func (a *API) Run(ctx context.Context) (done Done, err error) {
	if done.Trashed, err = a.Bots.Trash(ctx); err != nil {
		return done, err
	}
	for _, s := range []*db.Statement{named("note_sent_notices"), named("drop_lost_notices")} {
		if err := db.Exec(ctx, a.DB.SQL, s); err != nil {
			return done, err
		}
	}
	var unsent error
	if a.SendsMail {
		done.Notified, unsent = a.each(ctx, named("due_notices"), a.notice)
	}
	done.Deleted, err = a.each(ctx, named("due_deletions"), func(ctx context.Context, botID uuid.UUID) (bool, error) {
		return a.deleteBy(ctx, botID, named("delete_bot"))
	})
	return done, errors.Join(unsent, err)
}

// mostErrors bounds how many errors of agents a run reports.
const mostErrors = 20

// each calls act for every agent that a statement finds, ordered by id, and counts the calls that return true. It continues after
// errors of act, and returns the first ones joined.
func (a *API) each(ctx context.Context, due *db.Statement, act func(context.Context, uuid.UUID) (bool, error)) (n int64, err error) {
	var failed []error
	for last := uuid.Nil; ; {
		found, err := db.Column[uuid.UUID](ctx, a.DB.SQL, due, last, batch)
		if err != nil || len(found) == 0 {
			return n, errors.Join(append(failed, err)...)
		}
		for _, id := range found {
			switch acted, err := act(ctx, id); {
			case err != nil && len(failed) < mostErrors:
				failed = append(failed, err)
			case err != nil:
			case acted:
				n++
			}
		}
		last = found[len(found)-1]
	}
}

// notice mails the owner of an agent in the trash.
func (a *API) notice(ctx context.Context, botID uuid.UUID) (sent bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		sent = false
		locked, err := db.Column[uuid.UUID](ctx, tx.SQL, named("lock_trashed"), botID)
		if err != nil || len(locked) == 0 {
			return err
		}
		addresses, err := db.Column[string](ctx, tx.SQL, named("select_address"), botID)
		if err != nil || len(addresses) == 0 {
			return err
		}
		sent = true
		mailID, err := a.Email.Enqueue(ctx, tx, email.Mail{Kind: mail.KindTrashNotice, To: addresses[0], BotID: &botID})
		if err != nil {
			return err
		}
		return db.Exec(ctx, tx.SQL, named("insert_notice"), botID, mailID)
	})
	return sent, err
}

// deleteBy ends the offers of an agent, then runs the statement that decides whether it may be deleted, and deletes it
// (stoa_delete_bot).
func (a *API) deleteBy(ctx context.Context, botID uuid.UUID, statement *db.Statement) (deleted bool, err error) {
	if err := a.endOffers(ctx, botID); err != nil {
		return false, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		done, err := db.Column[bool](ctx, tx.SQL, statement, botID)
		if err != nil {
			return err
		}
		if deleted = done[0]; !deleted {
			return nil
		}
		tx.AfterCommit(a.TokensEnded)
		return a.Deleted(ctx, tx, botID)
	})
	return deleted, err
}

// endOffers cancels the offers that an agent has made and rejects those made to it, as the agent itself would.
func (a *API) endOffers(ctx context.Context, botID uuid.UUID) error {
	_, err := a.endOrders(ctx, named("select_offers"), botID)
	return err
}

// ending is an action of a participant that ends an order, or leads to its end.
type ending struct {
	OrderID uuid.UUID     `db:"id"`
	Version int64         `db:"version"`
	Action  orders.Action `db:"action"`
	// By is the participant.
	By uuid.UUID `db:"participant"`
}

// endOrders takes the actions that a statement lists, and returns their number. It is no error if an order has changed meanwhile.
func (a *API) endOrders(ctx context.Context, s *db.Statement, args ...any) (n int, err error) {
	endings, err := db.All[ending](ctx, a.DB.SQL, s, args...)
	for _, e := range endings {
		as := viewer.With(ctx, viewer.Viewer{Kind: viewer.Agent, BotID: e.By})
		in := orders.ActInput{OrderID: e.OrderID.String(), Action: e.Action, OperationID: new(uuid.NewString()), ExpectedVersion: &e.Version}
		if e.Action == orders.ProposeRefund {
			in.Reason = new(refundReason)
		}
		if _, err := a.Orders.OrderAct(as, in); err != nil && !changedMeanwhile[fault.From(err).Code] {
			return 0, err
		}
	}
	return len(endings), err
}

// changedMeanwhile holds the faults of an order that the other side has changed first. The next run tries again.
var changedMeanwhile = map[fault.Code]bool{fault.VersionConflict: true, fault.StateConflict: true}
