package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// Erased is the record of an erasure that outlives the database: ids and times, and who asked.
type Erased struct {
	BotID       uuid.UUID `json:"bot_id"`
	ErasureID   uuid.UUID `json:"erasure_id"`
	RequestedBy Asker     `json:"requested_by"`
	RequestedAt time.Time `json:"requested_at"`
	DueAt       time.Time `json:"due_at"`
}

// Erase advances every erasure as far as possible: it ends offers, erases agents that are due, and completes partial erasures
// once no order holds the agent. It may be interrupted, repeated, and run by several processes. Only jobs call it.
func (a *API) Erase(ctx context.Context) (erased int64, err error) {
	return a.each(ctx, named("open_erasures"), a.erase)
}

// eventBatch is how many events of an agent are deleted at once.
const eventBatch = 2000

// erase does the due part of one agent's erasure, and reports whether it erased anything.
func (a *API) erase(ctx context.Context, botID uuid.UUID) (erased bool, err error) {
	if err := a.endOffers(ctx, botID); err != nil {
		return false, err
	}
	// An agent that acknowledges nothing may have millions of events, too many for the statement that erases it.
	if _, err := a.DB.ExecBatches(ctx, named("delete_due_events"), eventBatch, botID); err != nil {
		return false, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		erased = false
		owner, err := db.Find[owned](ctx, tx.SQL, named("owner_address"), botID)
		if err != nil {
			return err
		}
		done, err := db.Column[string](ctx, tx.SQL, named("erase_bot"), botID)
		if err != nil || done[0] == "" {
			return err
		}
		erased = true
		if owner != nil && owner.Address != "" {
			err := db.Exec(ctx, tx.SQL, named("forget_address"), owner.Address, owner.Written, a.Email.AddressDigest(owner.Address))
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

// record stores an erasure outside the database before the commit: a due agent must stay erased even if the database loses data.
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

// EraseAgain erases recorded agents that a restored database contains again. An order that is open again holds its agent as
// before. It returns the number of erased agents. Call it before the process serves requests.
func (a *API) EraseAgain(ctx context.Context, records []Erased) (n int64, err error) {
	ids := page.Map(records, func(r Erased) uuid.UUID { return r.BotID })
	back, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("came_back"), db.IDs(ids))
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		if !slices.Contains(back, r.BotID) {
			continue
		}
		if err := db.Exec(ctx, a.DB.SQL, named("drop_erasures"), r.BotID, r.ErasureID); err != nil {
			return n, err
		}
		if err := db.Exec(ctx, a.DB.SQL, named("record_erased"), r.BotID, r.ErasureID, r.RequestedBy, r.RequestedAt, r.DueAt); err != nil {
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

// openRow is a row of list_erasures.
type openRow struct {
	erasureRow

	BotID uuid.UUID `db:"bot_id"`
}

// OpenErasures returns the erasures that are not done, ordered by due time.
func OpenErasures(ctx context.Context, from *db.DB, most int64) ([]*OpenErasure, error) {
	rows, err := db.All[openRow](ctx, from.SQL, named("list_erasures"), most)
	if err != nil {
		return nil, err
	}
	agents, err := from.Ent.Bot.Query().Where(bot.IDIn(page.Map(rows, func(r *openRow) uuid.UUID { return r.BotID })...)).All(ctx)
	byID := make(map[uuid.UUID]*ent.Bot, len(agents))
	for _, agent := range agents {
		byID[agent.ID] = agent
	}
	return page.Map(rows, func(r *openRow) *OpenErasure { return &OpenErasure{byID[r.BotID], r.card()} }), err
}

// readable lists the indexes that hold names of agents or addresses of owners in readable form.
var readable = []string{"bots_by_name", "bot_owner_address", "email_challenge_address", "email_challenge_mailbox", "owner_emails_pkey"}

// written lists the tables with texts of agents and addresses of owners.
var written = pq.StringArray{
	"bots", "posts", "tasks", "services", "responses", "ratings", "feedbacks", "notices", "orders", "operations", "attachments", "webhooks",
	"task_watches", "bot_owners", "owner_emails", "email_challenges", "restores", "owner_requests", "mails",
}

// ClearTraces removes copies of deleted texts that PostgreSQL keeps: in the statistics of changed tables (an empty table keeps
// its samples until it has rows) and, if an agent was erased within three hours, in the readable indexes, which it rebuilds
// without blocking writes. It may be interrupted and repeated. Only a job calls it, each hour.
func (a *API) ClearTraces(ctx context.Context) error {
	ctx = db.Patient(ctx)
	changed, err := db.Column[string](ctx, a.DB.SQL, named("changed_tables"), written)
	if err != nil {
		return err
	}
	for _, table := range changed {
		if _, err := a.DB.SQL.ExecContext(ctx, "ANALYZE "+table); err != nil {
			return err
		}
	}
	due, err := db.Column[bool](ctx, a.DB.SQL, named("erased_lately"))
	if err != nil || !due[0] {
		return err
	}
	for _, index := range readable {
		// A failed attempt leaves an index of that name.
		for _, statement := range []string{"DROP INDEX CONCURRENTLY IF EXISTS " + index + "_ccnew", "REINDEX INDEX CONCURRENTLY " + index} {
			if _, err := a.DB.SQL.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}
