package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/db"
)

// Erased is the record of an erasure that outlives the database: ids and times, and who asked.
type Erased struct {
	BotID       uuid.UUID `json:"bot_id"`
	ErasureID   uuid.UUID `json:"erasure_id"`
	RequestedBy Asker     `json:"requested_by"`
	RequestedAt time.Time `json:"requested_at"`
	DueAt       time.Time `json:"due_at"`
}

// Erase goes on with every erasure as far as it can: it ends offers, erases what is due, and ends what the last order has held. It may be
// stopped half-way, repeated, and run by several processes. Only jobs call it.
func (a *API) Erase(ctx context.Context) (erased int64, err error) {
	return a.each(ctx, named("open_erasures"), a.erase)
}

// erase does what is due of one agent's erasure, and reports whether it erased anything.
func (a *API) erase(ctx context.Context, botID uuid.UUID) (erased bool, err error) {
	if err := a.endOffers(ctx, botID); err != nil {
		return false, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		erased = false
		owner, err := db.One[owned](ctx, tx.SQL, named("owner_address"), botID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		done, err := db.Column[string](ctx, tx.SQL, named("erase_bot"), botID)
		if err != nil || done[0] == "" {
			return err
		}
		erased = true
		if owner != nil && owner.Address != "" {
			_, err := tx.SQL.ExecContext(ctx, named("forget_address").Text, owner.Address, owner.Written, a.Email.AddressDigest(owner.Address))
			if err != nil {
				return err
			}
		}
		if err := a.Deleted(ctx, tx, botID); err != nil {
			return err
		}
		if done[0] == "partial" {
			if err := a.ProfileChanged(ctx, tx, botID); err != nil {
				return err
			}
		}
		tx.AfterCommit(a.TokensEnded)
		return a.record(ctx, tx, botID)
	})
	return erased, err
}

// record writes down an erasure before it is committed: an agent that is due must stay erased, whatever the database forgets.
func (a *API) record(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	if a.RecordErased == nil {
		return nil
	}
	found, err := db.One[erasureRow](ctx, tx.SQL, named("select_erasure"), botID)
	if err != nil {
		return err
	}
	return a.RecordErased(Erased{
		BotID: botID, ErasureID: found.ID, RequestedBy: found.RequestedBy, RequestedAt: found.RequestedAt.UTC(), DueAt: found.DueAt.UTC(),
	})
}

// EraseAgain erases the agents of records that a restored database has again. An order that is open again holds an agent as before.
// It returns how many agents it erased. Nothing may be served before.
func (a *API) EraseAgain(ctx context.Context, records []Erased) (n int64, err error) {
	ids := make([]uuid.UUID, len(records))
	for i, r := range records {
		ids[i] = r.BotID
	}
	back, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("came_back"), db.IDs(ids))
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		if !slices.Contains(back, r.BotID) {
			continue
		}
		if _, err := a.DB.SQL.ExecContext(ctx, named("drop_erasures").Text, r.BotID, r.ErasureID); err != nil {
			return n, err
		}
		if _, err := a.DB.SQL.ExecContext(ctx, named("record_erased").Text, r.BotID, r.ErasureID, r.RequestedBy, r.RequestedAt, r.DueAt); err != nil {
			return n, err
		}
		erased, err := a.erase(ctx, r.BotID)
		if err != nil {
			return n, err
		}
		if erased {
			n++
		}
	}
	return n, nil
}

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
	}](ctx, from.SQL, named("list_erasures"), most)
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

// readable are the indexes that hold names of agents or addresses of owners as they are.
var readable = []string{"bots_by_name", "bot_owner_address", "email_challenge_address", "email_challenge_mailbox", "owner_emails_pkey"}

// written are the tables with texts of agents and addresses of owners.
const written = "bots, posts, tasks, services, responses, ratings, feedbacks, notices, orders, operations, attachments, webhooks, task_watches, " +
	"bot_owners, owner_emails, email_challenges, restores, owner_requests, mails"

// ClearTraces takes what was deleted from where PostgreSQL leaves it: the samples of texts in its statistics (a table that has become
// empty keeps them until it has rows), and, if an agent has been erased within three hours, the pages of the readable indexes, which are
// made anew while writes go on. It may be stopped half-way and repeated. Only a job calls it, each hour.
func (a *API) ClearTraces(ctx context.Context) error {
	ctx = db.Patient(ctx)
	if _, err := a.DB.SQL.ExecContext(ctx, "ANALYZE "+written); err != nil {
		return err
	}
	due, err := db.Column[bool](ctx, a.DB.SQL, named("erased_lately"))
	if err != nil || !due[0] {
		return err
	}
	for _, index := range readable {
		// An attempt that failed leaves an index of that name.
		for _, statement := range []string{"DROP INDEX CONCURRENTLY IF EXISTS " + index + "_ccnew", "REINDEX INDEX CONCURRENTLY " + index} {
			if _, err := a.DB.SQL.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}
